import { afterEach, expect, test } from 'bun:test';
import { type ConnectionId, LOCAL } from '@parlance/protocol';
import type { Connection, Socket } from '../core/ports/connection.ts';
import { TestClient } from '../testing/client.ts';
import { listen } from './http.ts';
import { type Opening, socketTransport } from './websocket.ts';

const LIMITS = { frameBytes: 1_000, unsentBytes: 1_000_000, heldCharacters: 100_000 };
const ignore = () => undefined;
const QUIET = { debug: ignore, info: ignore, warn: ignore, error: ignore };

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** A server with one kind of connection; the client is told `{type: 'error', reason}` of what cannot be read. */
async function serve(make: (socket: Socket) => Partial<Connection>, opening: Partial<Opening> = {}) {
  const sockets = socketTransport(LIMITS, QUIET);
  let count = 0;
  const accept = (socket: Socket): Connection => ({
    receive: (frame) => socket.send({ type: 'echo', frame }),
    garbled: (reason) => socket.send({ type: 'error', reason }),
    closed: ignore,
    draining: () => socket.send({ type: 'draining' }),
    ...make(socket),
  });
  const server = listen({
    hostname: '127.0.0.1',
    port: 0,
    sockets,
    admit: (request) => (request.headers.get('origin') === 'http://evil.example' ? 'Not from there' : null),
    opening: async (request) => {
      if (new URL(request.url).pathname !== '/ws') return null;
      const id = `socket-${++count}` as ConnectionId;
      return { id, principal: LOCAL, session: null, accept, ...opening };
    },
    routes: () => new Response('a route'),
  });
  stops.push(() => server.stop(true));
  const http = `http://127.0.0.1:${server.port}`;
  return { sockets, http, connect: () => TestClient.connect(`ws://127.0.0.1:${server.port}/ws`) };
}

test('what cannot be read is told with its reason, and the socket stays usable', async () => {
  const { connect } = await serve(() => ({}));
  const client = await connect();
  const reason = async () => (await client.next('error')).reason;
  client.socket.send('{not json');
  expect(await reason()).toBe('the message is not valid JSON');
  client.socket.send(new Uint8Array([0x22, 0xff, 0x22]));
  expect(await reason()).toBe('the message is not valid UTF-8');
  client.socket.send(JSON.stringify('x'.repeat(1_000)));
  expect(await reason()).toBe('the message is larger than 1000 bytes');
  client.socket.send(JSON.stringify('é'.repeat(600)));
  expect(await reason()).toBe('the message is larger than 1000 bytes');
  client.socket.send(new TextEncoder().encode('{"binary":true}'));
  expect(await client.next('echo')).toEqual({ type: 'echo', frame: { binary: true } });
});

test('a frame far beyond the limit closes the socket', async () => {
  const { connect } = await serve(() => ({}));
  const client = await connect();
  client.socket.send('x'.repeat(LIMITS.frameBytes * 4 + 1));
  await client.closed;
});

test('frames wait until the connection has opened, and keep their order', async () => {
  const gate = Promise.withResolvers<void>();
  const { connect } = await serve(() => ({ opened: () => gate.promise }));
  const client = await connect();
  for (let count = 1; count <= 5; count++) client.send({ count });
  gate.resolve();
  for (let count = 1; count <= 5; count++) expect((await client.next('echo')).frame).toEqual({ count });
});

test('a client that sends faster than it is served is let go', async () => {
  const never = Promise.withResolvers<void>();
  const { connect } = await serve(() => ({ receive: () => never.promise }));
  const client = await connect();
  for (let count = 0; count < 1_100; count++) client.send({ count });
  expect(await client.closed).toEqual({ code: 1013, reason: 'Too many frames at once' });
});

test('after the socket is gone, sending to it does nothing', async () => {
  const gone = Promise.withResolvers<Socket>();
  const { connect, sockets } = await serve((socket) => ({ closed: () => gone.resolve(socket) }));
  const client = await connect();
  client.close();
  const socket = await gone.promise;
  expect(socket.open).toBe(false);
  socket.send({ type: 'late' });
  socket.sendText('late');
  expect(sockets.size).toBe(0);
});

test('a socket with a bad token is opened and closed with a code that the client sees', async () => {
  const { connect } = await serve(() => ({}), { accept: { code: 1008, reason: 'Invalid token' } });
  const client = await connect();
  expect(await client.closed).toEqual({ code: 1008, reason: 'Invalid token' });
});

test('a connection that cannot be made closes its socket and nothing else', async () => {
  let broken = true;
  const { connect } = await serve(() => {
    if (broken) throw new Error('a bug');
    return {};
  });
  const first = await connect();
  expect((await first.closed).code).toBe(1011);
  broken = false;
  const second = await connect();
  second.send({ still: 'here' });
  expect(await second.next('echo')).toEqual({ type: 'echo', frame: { still: 'here' } });
});

test('who loses the right to be there is closed with the reason, and what waits of it is not handled', async () => {
  const lost = Promise.withResolvers<(reason: string) => void>();
  const first = Promise.withResolvers<void>();
  const handled: unknown[] = [];
  const receive = async (frame: unknown) => {
    handled.push(frame);
    await first.promise;
  };
  let watching = 0;
  const guard = (ended: (reason: string) => void) => {
    watching++;
    lost.resolve(ended);
    return () => void watching--;
  };
  const { connect, sockets } = await serve(() => ({ receive }), { guard });
  const client = await connect();
  const ended = await lost.promise;
  for (let count = 1; count <= 5; count++) client.send({ count });
  client.socket.ping();
  await new Promise((resolve) => client.socket.addEventListener('pong', resolve));
  ended('The token was revoked.');
  expect(await client.closed).toEqual({ code: 1008, reason: 'The token was revoked.' });
  first.resolve();
  await new Promise((resolve) => setImmediate(resolve));
  expect([handled, watching, sockets.size]).toEqual([[{ count: 1 }], 0, 0]);
});

test('draining tells every socket and closes it with 1001', async () => {
  const { connect, sockets } = await serve(() => ({}));
  const clients = [await connect(), await connect()];
  for (const client of clients) {
    client.send({ ready: true });
    await client.next('echo');
  }
  sockets.drain();
  for (const client of clients) {
    await client.next('draining');
    expect((await client.closed).code).toBe(1001);
  }
});

test('who is not admitted gets neither a route nor a socket', async () => {
  const { http } = await serve(() => ({}));
  const headers = { origin: 'http://evil.example' };
  const upgrade = { ...headers, upgrade: 'websocket', connection: 'upgrade' };
  expect((await fetch(http, { headers })).status).toBe(403);
  expect((await fetch(`${http}/ws`, { headers: upgrade })).status).toBe(403);
  expect((await fetch(http)).status).toBe(200);
});

test('where no socket is served, and where the handshake is none, an answer says so', async () => {
  const { http } = await serve(() => ({}));
  const headers = { upgrade: 'websocket', connection: 'upgrade' };
  expect((await fetch(`${http}/nowhere`, { headers })).status).toBe(404);
  expect((await fetch(`${http}/ws`, { headers })).status).toBe(400);
});
