import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startTestServer, type TestServer } from '../../server/src/testing/server.ts';
import { until } from '../../server/src/testing/until.ts';
import { connect } from './connect.ts';
import { ParlanceError } from './error.ts';
import type { Fetch } from './http-client.ts';
import { type ManualClock, manualClock } from './testing/manual-clock.ts';
import { proxyTo, type TestProxy } from './testing/proxy.ts';
import { Reader } from './testing/reader.ts';

let server: TestServer;
let proxy: TestProxy;
beforeAll(async () => {
  server = await startTestServer();
  proxy = await proxyTo(server.running.port);
});
afterAll(async () => {
  await proxy.stop();
  await server.stop();
});

const BACKOFF = { baseMs: 1_000, maxMs: 30_000 };
const inputs = async (session: string) => {
  const events = (await connect({ url: server.http }).session(session).historyPage({ limit: 1_000 })).events;
  return events.filter(({ type }) => type === 'input.accepted');
};

/** Resolves when a timer of that length is set. */
async function waits(clock: ManualClock, ms: number): Promise<void> {
  await until(() => clock.waiting().includes(ms));
}

/** Returns these responses first, then those of the real server. */
function answersFirst(...answers: (() => Response | Promise<Response>)[]): {
  fetch: Fetch;
  count: () => number;
} {
  let count = 0;
  const through: Fetch = (url, init) => {
    const answer = answers[count++];
    return answer ? Promise.resolve(answer()) : fetch(url, init);
  };
  return { fetch: through, count: () => count };
}

const refused =
  (status: number, headers: Record<string, string> = {}, code?: string) =>
  () =>
    new Response(code ? JSON.stringify({ error: { code, message: 'No.' } }) : 'no', { status, headers });
const unreachable = () => Promise.reject(new TypeError('fetch failed'));

describe('a lost response', () => {
  test('makes an input be sent again with its key and stored once', async () => {
    const clock = manualClock();
    const parlance = connect({ url: proxy.url, clock, backoff: BACKOFF });
    proxy.loseNextAnswer();
    const sent = parlance.session('lost').submit('Hello');
    await waits(clock, 500);
    expect(await inputs('lost')).toHaveLength(1);
    clock.advance(500);
    const { key, facts } = await sent;
    expect(facts).toEqual([]);
    expect(await inputs('lost')).toMatchObject([{ key }]);
  });

  test('of a cancel is reported and not retried', async () => {
    const parlance = connect({ url: proxy.url });
    await parlance.session('lost-cancel').create();
    proxy.loseNextAnswer();
    const thrown = await parlance
      .session('lost-cancel')
      .cancel()
      .catch((error) => error);
    expect(thrown).toBeInstanceOf(ParlanceError);
    expect(thrown).toMatchObject({ code: 'unreachable', status: undefined });
  });

  test('two inputs with the same text are two', async () => {
    const session = connect({ url: server.http }).session('twice');
    const [one, two] = [await session.submit('Hello'), await session.submit('Hello')];
    expect(one.key).not.toBe(two.key);
    expect(await inputs('twice')).toHaveLength(2);
    await session.submit('Hello', { key: one.key });
    expect(await inputs('twice')).toHaveLength(2);
  });
});

describe('a busy server', () => {
  test('is retried after Retry-After, also for commands that are not idempotent', async () => {
    const clock = manualClock(0);
    const { fetch, count } = answersFirst(refused(503, { 'retry-after': '7' }));
    const parlance = connect({ url: server.http, fetch, clock, backoff: BACKOFF });
    const answer = parlance
      .session('busy')
      .cancel()
      .catch((error) => error);
    await waits(clock, 7_000);
    clock.advance(6_999);
    expect(count()).toBe(1);
    clock.advance(1);
    expect(await answer).toMatchObject({ code: 'not_found', status: 404 });
    expect(count()).toBe(2);
  });

  test('with a long Retry-After is not waited for', async () => {
    const { fetch, count } = answersFirst(refused(429, { 'retry-after': '3600' }, 'overloaded'));
    const answer = connect({ url: server.http, fetch }).sessions.list();
    expect(await answer.catch((error) => error)).toMatchObject({
      code: 'overloaded',
      status: 429,
      message: 'No.',
      retryAfterMs: 3_600_000,
    });
    expect(count()).toBe(1);
  });

  test('is waited for by a stream, however long', async () => {
    const clock = manualClock(0);
    await connect({ url: server.http }).session('busy-stream').create();
    const { fetch } = answersFirst(refused(503, { 'retry-after': '3600' }));
    const session = connect({ url: server.http, fetch, clock, backoff: BACKOFF }).session('busy-stream');
    const reader = new Reader((options) => session.events(options));
    const { retryAt, fault } = await reader.state('waiting');
    expect(retryAt - clock.now()).toBe(3_600_000);
    expect(fault).toMatchObject({ status: 503, retryAfterMs: 3_600_000 });
    clock.advance(3_600_000);
    await reader.event('snapshot');
    await reader.stop();
  });
});

describe('a request', () => {
  test('that reads is attempted four times and then fails', async () => {
    const clock = manualClock();
    const { fetch, count } = answersFirst(unreachable, refused(502), refused(504), unreachable);
    const answer = connect({ url: server.http, fetch, clock, backoff: BACKOFF })
      .sessions.list()
      .catch((error) => error);
    for (const ms of [500, 1_000, 2_000]) {
      await waits(clock, ms);
      clock.advance(ms);
    }
    expect(await answer).toMatchObject({ code: 'unreachable', message: 'Cannot reach the server.' });
    expect(count()).toBe(4);
  });

  test('without a response in time fails', async () => {
    const clock = manualClock();
    const never: Fetch = (_url, { signal }) =>
      new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    const parlance = connect({ url: server.http, fetch: never, clock, attempts: 1 });
    const answer = parlance.sessions.list().catch((error) => error);
    await waits(clock, 30_000);
    clock.advance(30_000);
    expect(await answer).toMatchObject({ code: 'unreachable', message: 'No response within 30 s.' });
  });

  test('aborted by its caller rejects with the reason, also between attempts', async () => {
    const clock = manualClock();
    const stop = new AbortController();
    const { fetch } = answersFirst(unreachable);
    const parlance = connect({ url: server.http, fetch, clock, backoff: BACKOFF });
    const answer = parlance.sessions.list({ signal: stop.signal }).catch((error) => error);
    await waits(clock, 500);
    stop.abort('enough');
    expect(await answer).toBe('enough');
    expect(clock.waiting()).toEqual([]);
    expect(await parlance.sessions.list({ signal: AbortSignal.abort('no') }).catch((e) => e)).toBe('no');
  });

  test('to another API reports that', async () => {
    const page = () => new Response('<html>', { headers: { 'content-type': 'text/html' } });
    const { fetch } = answersFirst(page);
    const parlance = connect({ url: server.http, fetch, attempts: 1 });
    expect(await parlance.sessions.list().catch((error) => error)).toMatchObject({ code: 'unexpected' });
    await connect({ url: server.http }).session('elsewhere').create();
    const other = connect({ url: server.http, fetch: answersFirst(page).fetch, clock: manualClock() });
    const reader = new Reader((options) => other.session('elsewhere').events(options));
    expect((await reader.state('waiting')).fault).toMatchObject({ code: 'unexpected', status: 200 });
    await reader.stop();
  });

  test('refused before the API keeps the message of the refusal', async () => {
    const { fetch } = answersFirst(() =>
      Response.json({ error: 'Not from there', detail: 'Not from there' }, { status: 403 }),
    );
    const parlance = connect({ url: `${server.http}///`, fetch });
    const thrown = await parlance.sessions.list().catch((error) => error);
    expect(thrown).toMatchObject({ code: 'forbidden', message: 'Not from there', status: 403 });
    expect((await parlance.sessions.list()).sessions).toBeArray();
  });
});
