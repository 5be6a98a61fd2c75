/** Request bodies over real sockets, with custom limits. */
import { afterEach, expect, test } from 'bun:test';
import { connect, type Socket } from 'node:net';
import { asFault } from '@parlance/protocol';
import { NO_METER } from '../core/ports/telemetry.ts';
import { until } from '../testing/until.ts';
import { ByteBudget } from './byte-budget.ts';
import { type BodyLimits, bodyReader } from './request-body.ts';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const LIMITS: BodyLimits = {
  maxBody: 10_000,
  maxLoginBody: 100,
  bodyWithin: 3_600_000,
  identifyWithin: 3_600_000,
  bodyRate: 0,
};

/**
 * Responds with the length of the body, or with the fault code. `/anonymous` reads it as an anonymous
 * sender's.
 */
function serve(limits: Partial<BodyLimits> = {}, budget = 1_000_000, share = budget) {
  const refusals: (string | undefined)[] = [];
  const outcomes: string[] = [];
  const budgets = { anonymous: new ByteBudget(budget, share), identified: new ByteBudget(budget, share) };
  const read = bodyReader(
    { ...LIMITS, ...limits },
    {
      budgets,
      addressOf: (request) => request.headers.get('x-from') ?? 'here',
      meter: { ...NO_METER, add: (_, label) => void refusals.push(label) },
    },
  );
  let ended = Promise.withResolvers<string>();
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const sender = request.url.endsWith('/anonymous') ? 'anonymous' : 'identified';
      const outcome = await read(request, sender).then(
        (bytes) => String(bytes.length),
        (thrown) => asFault(thrown).code,
      );
      outcomes.push(outcome);
      ended.resolve(outcome);
      return new Response(outcome);
    },
  });
  stops.push(() => server.stop(true));
  const { port = 0 } = server;
  return {
    budgets,
    refusals,
    post: async (path: string, body: string | ReadableStream, from = 'here') => {
      const headers = { 'x-from': from };
      return (await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', body, headers })).text();
    },
    /** A request whose body has started. */
    begin(length: number, piece: string): Socket {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n${piece}`);
      stops.push(() => socket.destroy());
      return socket;
    },
    /** outcome of the next request */
    async outcome(): Promise<string> {
      const outcome = await ended.promise;
      ended = Promise.withResolvers();
      return outcome;
    },
  };
}

const streamed = (text: string) => new Response(text).body as ReadableStream;

test('a body is read up to the limit of its sender, with or without a content length', async () => {
  const { post, refusals } = serve();
  expect(await post('/', '')).toBe('0');
  for (const body of [(text: string) => text, streamed]) {
    expect(await post('/', body('x'.repeat(10_000)))).toBe('10000');
    expect(await post('/', body('x'.repeat(10_001)))).toBe('too_large');
    expect(await post('/anonymous', body('x'.repeat(100)))).toBe('100');
    expect(await post('/anonymous', body('x'.repeat(101)))).toBe('too_large');
  }
  expect(refusals).toEqual(['maxBody', 'maxLoginBody', 'maxBody', 'maxLoginBody']);
});

test('a body that stalls times out at the minimum rate', async () => {
  const { begin, outcome, refusals, budgets } = serve({ bodyRate: 1_000, rateWindowMs: 100 });
  begin(5_000, 'x'.repeat(50));
  expect(await outcome()).toBe('too_slow');
  expect([refusals, budgets.identified.held]).toEqual([['bodyRate'], 0]);
});

test('a body that starts fast and then stalls times out', async () => {
  const { begin, outcome, refusals } = serve({ bodyRate: 1_000, rateWindowMs: 100 });
  begin(10_000, 'x'.repeat(9_000));
  expect(await outcome()).toBe('too_slow');
  expect(refusals).toEqual(['bodyRate']);
});

test('a peer that disconnects mid-body releases its budget', async () => {
  const { begin, outcome, budgets } = serve();
  const socket = begin(5_000, 'x'.repeat(50));
  await until(() => budgets.identified.held !== 0);
  socket.destroy();
  expect(await outcome()).toBe('invalid');
  expect(budgets.identified.held).toBe(0);
});

test('the bytes buffered for all callers are limited in total', async () => {
  const { begin, post, outcome, budgets, refusals } = serve({}, 6_000);
  const socket = begin(5_000, 'x'.repeat(4_000));
  await until(() => budgets.identified.held >= 4_000);
  expect(await post('/', 'x'.repeat(3_000))).toBe('overloaded');
  expect([await outcome(), refusals]).toEqual(['overloaded', ['bodyBytes']]);
  expect(await post('/anonymous', 'x'.repeat(100))).toBe('100');
  socket.write('x'.repeat(1_000));
  await until(() => budgets.identified.held <= 0);
  expect(await post('/', 'x'.repeat(5_000))).toBe('5000');
});

test('one address uses at most its share', async () => {
  const { begin, post, budgets } = serve({}, 6_000, 3_000);
  const socket = begin(5_000, 'x'.repeat(2_000));
  await until(() => budgets.identified.held >= 2_000);
  expect(await post('/', 'x'.repeat(2_000))).toBe('overloaded');
  expect(await post('/', 'x'.repeat(2_000), 'elsewhere')).toBe('2000');
  socket.destroy();
  await until(() => budgets.identified.held <= 0);
  expect(await post('/', 'x'.repeat(2_000))).toBe('2000');
});
