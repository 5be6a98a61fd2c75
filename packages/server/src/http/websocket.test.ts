import { afterEach, expect, test } from 'bun:test';
import { serveEcho } from '../testing/echo.ts';
import type { Connection, Socket } from './connection.ts';
import type { Opening } from './dialect-socket.ts';

const LIMITS = { frameBytes: 1_000 };

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

function serve(make: (socket: Socket) => Partial<Connection>, opening: Partial<Opening> = {}) {
  const server = serveEcho(make, { limits: LIMITS, opening });
  stops.push(server.stop);
  return server;
}

test('an invalid frame gets an error with the reason, and the socket stays usable', async () => {
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
  client.socket.send('x'.repeat(LIMITS.frameBytes + 65_537));
  await client.closed;
});

test('frames wait until the connection has opened, and keep their order', async () => {
  const authenticator = Promise.withResolvers<void>();
  const { connect } = await serve(() => ({ opened: () => authenticator.promise }));
  const client = await connect();
  for (let count = 1; count <= 5; count++) client.send({ count });
  authenticator.resolve();
  for (let count = 1; count <= 5; count++) expect((await client.next('echo')).frame).toEqual({ count });
});

test('sending to a closed socket does nothing', async () => {
  const gone = Promise.withResolvers<Socket>();
  const { connect, sockets } = await serve((socket) => ({ closed: () => gone.resolve(socket) }));
  const client = await connect();
  client.close();
  const socket = await gone.promise;
  expect(socket.open).toBe(false);
  socket.sendFrame({ type: 'late' });
  socket.send('late');
  expect(sockets.size).toBe(0);
});

test('a socket with a bad token is opened, then closed with a code that the client sees', async () => {
  const { connect } = await serve(() => ({}), { accept: { code: 1008, reason: 'Invalid token' } });
  const client = await connect();
  expect(await client.closed).toEqual({ code: 1008, reason: 'Invalid token' });
});

test('a connection that cannot be created closes only its socket', async () => {
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

test('revoking a token closes its socket with the reason and drops queued frames', async () => {
  const lost = Promise.withResolvers<(reason: string) => void>();
  const first = Promise.withResolvers<void>();
  const handled: unknown[] = [];
  const receive = async (frame: unknown) => {
    handled.push(frame);
    await first.promise;
  };
  let watching = 0;
  const onTokenRevoked = (ended: (reason: string) => void) => {
    watching++;
    lost.resolve(ended);
    return () => void watching--;
  };
  const { connect, sockets } = await serve(() => ({ receive }), { onTokenRevoked });
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

test('draining notifies every socket and closes it with 1001', async () => {
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

test('a refused caller gets neither a route nor a socket', async () => {
  const { http } = await serve(() => ({}));
  const headers = { origin: 'http://evil.example' };
  const upgrade = { ...headers, upgrade: 'websocket', connection: 'upgrade' };
  expect((await fetch(http, { headers })).status).toBe(403);
  expect((await fetch(`${http}/ws`, { headers: upgrade })).status).toBe(403);
  expect((await fetch(http)).status).toBe(200);
});

test('a path without a socket, and a bad handshake, get an HTTP error', async () => {
  const { http } = await serve(() => ({}));
  const headers = { upgrade: 'websocket', connection: 'upgrade' };
  expect((await fetch(`${http}/nowhere`, { headers })).status).toBe(404);
  expect((await fetch(`${http}/ws`, { headers })).status).toBe(400);
});
