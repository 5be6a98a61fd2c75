import { afterEach, expect, test } from 'bun:test';
import type { Log } from '../../core/index.ts';
import { APPLICATION, QUIET, servePusher } from '../../testing/pusher.ts';
import { checkDigest, checkSignature } from './signature.ts';
import { openTrigger, type Trigger, type TriggerOptions } from './trigger.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

const SECRET = 'a-secret-that-nobody-may-read';

type Received = { readonly name: string; readonly channels: string[]; readonly data: string };

/** A server that stores correctly signed events, and answers with the given status. */
function external(answer: (count: number) => number | Promise<number> = () => 200) {
  const received: Received[] = [];
  const arrivals = new Set<() => void>();
  let count = 0;
  const server = Bun.serve({
    port: 0,
    async fetch(request) {
      const { pathname: path, searchParams } = new URL(request.url);
      const body = await request.text();
      checkSignature(
        { key: 'key', secret: SECRET },
        { method: request.method, path, query: searchParams },
        Date.now(),
      );
      checkDigest(Buffer.from(body), searchParams);
      expect(path).toBe('/apps/7/events');
      received.push(JSON.parse(body));
      for (const arrived of arrivals) arrived();
      return new Response('{}', { status: await answer(++count) });
    },
  });
  cleanups.push(() => server.stop(true));
  const arrived = (wanted: number) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = () => void (received.length >= wanted && resolve());
    arrivals.add(look);
    look();
    return promise;
  };
  return { received, arrived, port: server.port ?? 0, names: () => received.map(({ name }) => name) };
}

function open(port: number, more: Partial<TriggerOptions> = {}): Trigger & { pauses: number[] } {
  const pauses: number[] = [];
  const pause = async (milliseconds: number) => void pauses.push(milliseconds);
  const address = { host: '127.0.0.1', port, useTls: false, appId: '7', key: 'key', secret: SECRET };
  const trigger = openTrigger({ ...address, log: QUIET, pause, ...more });
  cleanups.push(() => trigger.close());
  return { ...trigger, pauses };
}

/** Collects all log lines as text. */
function logged(): { log: Log; lines: string[] } {
  const lines: string[] = [];
  const write = (data: object, message: string) =>
    void lines.push(
      `${message} ${JSON.stringify(data, (_key, value) => (value instanceof Error ? `${value} ${value.stack} ${Bun.inspect(value)}` : value))}`,
    );
  return { log: { debug: write, info: write, warn: write, error: write }, lines };
}

test('events arrive signed, in order, with their data as a string', async () => {
  const server = external();
  const trigger = open(server.port);
  trigger.publish('private-session-1', 'new_message', { text: 'hé' });
  trigger.publish('private-session-1', 'interact_response', 'as it is');
  await server.arrived(2);
  expect(server.received).toEqual([
    { name: 'new_message', channels: ['private-session-1'], data: '{"text":"hé"}' },
    { name: 'interact_response', channels: ['private-session-1'], data: 'as it is' },
  ]);
});

test('publish returns before the request is sent', async () => {
  const never = Promise.withResolvers<number>();
  const server = external(() => never.promise);
  const trigger = open(server.port);
  expect(trigger.publish('a', 'said', {})).toBeUndefined();
  expect(server.received).toEqual([]);
  await server.arrived(1);
  never.resolve(200);
});

test('a busy server is retried with growing delays, and the order is kept', async () => {
  const server = external((count) => (count <= 2 ? 503 : 200));
  const trigger = open(server.port);
  trigger.publish('a', 'first', {});
  trigger.publish('a', 'second', {});
  await server.arrived(4);
  expect(server.names()).toEqual(['first', 'first', 'first', 'second']);
  expect(trigger.pauses).toEqual([250, 500]);
});

test('after five attempts an event is dropped, and the next is sent', async () => {
  const server = external((count) => (count <= 5 ? 500 : 200));
  const { log, lines } = logged();
  const trigger = open(server.port, { log });
  trigger.publish('a', 'first', {});
  trigger.publish('a', 'second', {});
  await server.arrived(6);
  expect(server.names()).toEqual([...Array(5).fill('first'), 'second']);
  expect(trigger.pauses).toEqual([250, 500, 1_000, 2_000]);
  expect(lines).toEqual([expect.stringContaining('is unreachable')]);
});

test('a refused event is not retried', async () => {
  const server = external((count) => (count === 1 ? 413 : 200));
  const { log, lines } = logged();
  const trigger = open(server.port, { log });
  trigger.publish('a', 'large', {});
  trigger.publish('a', 'small', {});
  await server.arrived(2);
  expect(server.names()).toEqual(['large', 'small']);
  expect(lines).toEqual([expect.stringContaining('"status":413')]);
});

test('the queue is bounded: beyond a thousand the oldest event is dropped and reported', async () => {
  const authenticator = Promise.withResolvers<number>();
  const server = external((count) => (count === 1 ? authenticator.promise : 200));
  const { log, lines } = logged();
  const trigger = open(server.port, { log });
  trigger.publish('a', 'under way', {});
  await server.arrived(1);
  for (let count = 0; count < 1_002; count++) trigger.publish('a', `event-${count}`, {});
  authenticator.resolve(200);
  await server.arrived(1_001);
  expect(server.names().slice(0, 2)).toEqual(['under way', 'event-2']);
  expect(server.names().at(-1)).toBe('event-1001');
  expect(lines).toEqual([expect.stringContaining('{"dropped":2}')]);
});

test('closing sends queued events without retries', async () => {
  const server = external((count) => (count === 1 ? 500 : 200));
  const pausing = Promise.withResolvers<void>();
  const pause = (_milliseconds: number, signal: AbortSignal) => {
    pausing.resolve();
    return new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  };
  const trigger = open(server.port, { pause });
  trigger.publish('a', 'first', {});
  trigger.publish('a', 'second', {});
  await pausing.promise;
  await trigger.close();
  expect(server.names()).toEqual(['first', 'first', 'second']);
  trigger.publish('a', 'late', {});
  await trigger.close();
  expect(server.names()).not.toContain('late');
});

test('the secret never appears in the log, even after failures', async () => {
  const { log, lines } = logged();
  const refusing = external(() => 401);
  for (const port of [1, refusing.port]) {
    const trigger = open(port, { log });
    trigger.publish('a', 'said', {});
    await trigger.close();
  }
  expect(lines.length).toBeGreaterThan(1);
  for (const line of lines) expect(line).not.toMatch(/a-secret|auth_signature/);
});

test('it works with this server as the external server', async () => {
  const server = servePusher();
  cleanups.push(() => server.stop());
  const one = await server.connect();
  await one.subscribe('private-session-1');
  const { id: appId, key, secret } = APPLICATION;
  const trigger = open(server.port, { appId, key, secret, now: () => server.clock.now() });
  trigger.publish('private-session-1', 'new_message', { role: 'user' });
  expect((await one.received('new_message')).data).toEqual({ role: 'user' });
});
