/** Unauthenticated sockets, over real connections: with one slot, they are read one after another. */
import { afterEach, expect, test } from 'bun:test';
import { type Principal, PrincipalId, ROLE_PERMISSIONS } from '@parlance/protocol';
import { serveEcho } from '../testing/echo.ts';
import { slowness } from '../testing/until.ts';
import type { Connection, Socket } from './connection.ts';
import type { SocketLimits } from './websocket.ts';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const uma: Principal = { id: PrincipalId.parse('uma'), role: 'user', permissions: ROLE_PERMISSIONS.user };

/** A peer authenticates as uma with its first frame. */
const claims = (socket: Socket): Partial<Connection> => {
  let claimed: Principal | null = null;
  return {
    receive() {
      claimed = uma;
      socket.sendFrame({ type: 'echo' });
    },
    identified: () => claimed,
  };
};

function serve(limits: Partial<SocketLimits>) {
  const opening = { principal: null, unknown: true };
  const server = serveEcho(claims, { limits: { unfinishedBytes: 1, ...limits }, opening });
  stops.push(server.stop);
  return server;
}

test('a waiting socket is read when the one before it has authenticated', async () => {
  const { connect, refusals } = serve({});
  const [first, second] = [await connect(), await connect()];
  second.send({ hello: true });
  first.send({ hello: true });
  await first.next('echo');
  await second.next('echo');
  expect(refusals).toEqual([]);
});

test('a silent socket is closed for a waiting one, after a fifth of the authentication timeout', async () => {
  const { connect, refusals } = serve({ identifyWithin: 1_000 * slowness() });
  const [first, second] = [await connect(), await connect()];
  second.send({ hello: true });
  await second.next('echo');
  expect((await first.closed).code).toBe(1006);
  expect(refusals).toEqual(['unfinishedBytes']);
});

test('slots of lingering sockets are awaited until the authentication timeout', async () => {
  const { connect, refusals } = serve({ identifyWithin: 200 * slowness() });
  const first = await connect();
  first.close();
  await first.closed;
  const second = await connect();
  expect(await second.closed).toMatchObject({ code: 1013 });
  expect(refusals).toEqual(['unfinishedBytes']);
});

test('if too many are unauthenticated, a waiting one is closed for a new one', async () => {
  const { connect, refusals } = serve({ unknownSockets: 2 });
  const [first, second, third] = [await connect(), await connect(), await connect()];
  expect((await second.closed).code).toBe(1006);
  third.send({ hello: true });
  first.send({ hello: true });
  await third.next('echo');
  expect(refusals).toEqual(['unfinishedBytes']);
});
