/** Limits on frames and sockets, over real sockets with small limits. */
import { afterEach, describe, expect, test } from 'bun:test';
import { type Principal, PrincipalId, ROLE_PERMISSIONS } from '@parlance/protocol';
import { type EchoOptions, serveEcho } from '../testing/echo.ts';
import { slowness } from '../testing/until.ts';
import type { Connection, Socket } from './connection.ts';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

function serve(options: EchoOptions, make?: (socket: Socket) => Partial<Connection>) {
  const server = serveEcho(make, options);
  stops.push(server.stop);
  return server;
}

const UPGRADE = {
  upgrade: 'websocket',
  connection: 'Upgrade',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

describe('frames per minute', () => {
  test('a frame beyond the limit is not read, and gets a retry time', async () => {
    const { connect, refusals } = serve({ limits: { framesPerMinute: 3 } });
    const client = await connect();
    for (let count = 1; count <= 5; count++) client.send({ count });
    for (let count = 1; count <= 3; count++) expect((await client.next('echo')).frame).toEqual({ count });
    expect((await client.next('limited')).retryAfterMs).toBeWithin(19_000, 20_001);
    await client.next('limited');
    expect(refusals).toEqual(['framesPerMinute', 'framesPerMinute']);
  });

  test('a client that continues is disconnected with 1008', async () => {
    const { connect } = serve({ limits: { framesPerMinute: 1 } });
    const client = await connect();
    for (let count = 0; count < 12; count++) client.send({ count });
    expect(await client.closed).toEqual({ code: 1008, reason: 'Too many messages' });
    expect(client.frames.filter(({ type }) => type === 'limited')).toHaveLength(10);
  });

  test('a burst of a whole minute is accepted, however slowly it is handled', async () => {
    const authenticator = Promise.withResolvers<void>();
    const { connect } = serve({}, (socket) => ({
      async receive(frame) {
        await authenticator.promise;
        socket.sendFrame({ type: 'echo', frame });
      },
    }));
    const client = await connect();
    for (let count = 1; count <= 12_000; count++) client.send({ count });
    authenticator.resolve();
    await client.next(({ frame }) => (frame as { count: number }).count === 12_000);
    expect(client.frames).toHaveLength(12_000);
  });

  test('queued frames are also limited by bytes', async () => {
    const authenticator = Promise.withResolvers<void>();
    const { connect, refusals } = serve({}, (socket) => ({
      async receive() {
        await authenticator.promise;
        socket.sendFrame({ type: 'done' });
      },
    }));
    const client = await connect();
    const large = { large: 'x'.repeat(1_000_000) };
    for (let count = 0; count < 20; count++) client.send(large);
    await client.next('limited');
    authenticator.resolve();
    await client.next('done');
    expect(new Set(refusals)).toEqual(new Set(['framesWaiting']));
  });
});

test('accepted frames compensate for refused ones: only persistent offenders are disconnected', async () => {
  const frame = { text: 'x'.repeat(80) };
  let authenticator = Promise.withResolvers<void>();
  const { connect, refusals } = serve(
    { limits: { framesPerMinute: 60 }, anonymousBytes: 100, opening: { principal: null, unknown: true } },
    (socket) => ({
      async receive() {
        await authenticator.promise;
        socket.sendFrame({ type: 'done' });
      },
    }),
  );
  const client = await connect();
  for (let round = 0; round < 2; round++) {
    authenticator = Promise.withResolvers();
    client.send(frame);
    for (let count = 0; count < 6; count++) client.send(frame);
    for (let count = 0; count < 6; count++) await client.next('limited');
    authenticator.resolve();
    await client.next('done');
    for (let count = 0; count < 6; count++) {
      client.send(frame);
      await client.next('done');
    }
  }
  // More than the ten in a row that would close the socket.
  expect(refusals).toEqual(Array.from({ length: 12 }, () => 'anonymousBytes'));
});

describe('number of sockets', () => {
  const counts: [
    limit: 'sockets' | 'socketsPerPrincipal' | 'socketsPerAddress' | 'unknownSockets',
    status: number,
  ][] = [
    ['sockets', 503],
    ['socketsPerPrincipal', 429],
    ['socketsPerAddress', 429],
    ['unknownSockets', 503],
  ];
  for (const [limit, status] of counts) {
    test(`${limit}: one more gets ${status} before the upgrade, until one has closed`, async () => {
      const opening = {
        address: '192.0.2.1',
        ...(limit === 'unknownSockets' ? { unknown: true, principal: null } : {}),
      };
      const { connect, http, refusals } = serve({ limits: { [limit]: 2 }, opening });
      const [first] = [await connect(), await connect()];
      const refused = await fetch(`${http}/ws`, { headers: UPGRADE });
      expect(refused.status).toBe(status);
      expect(refused.headers.get('retry-after')).toBe('5');
      expect(await refused.json()).toEqual({
        error: expect.any(String),
        detail: expect.any(String),
        retryAfter: 5,
      });
      expect(refusals).toEqual([limit]);
      first.close();
      await first.closed;
      const again = await connect();
      again.send({ here: true });
      await again.next('echo');
    });
  }

  test('a failed handshake takes no slot', async () => {
    const { connect, http } = serve({ limits: { sockets: 1 } });
    for (let count = 0; count < 3; count++)
      expect(
        (await fetch(`${http}/ws`, { headers: { upgrade: 'websocket', connection: 'upgrade' } })).status,
      ).toBe(400);
    await connect();
  });

  test('200 concurrent sockets are accepted', async () => {
    const { connect, sockets } = serve({});
    const clients = await Promise.all(Array.from({ length: 200 }, connect));
    for (const client of clients) client.send({ hello: true });
    await Promise.all(clients.map((client) => client.next('echo')));
    expect(sockets.size).toBe(200);
  });
});

describe('an unauthenticated socket', () => {
  const uma: Principal = { id: PrincipalId.parse('uma'), role: 'user', permissions: ROLE_PERMISSIONS.user };

  /** A peer authenticates as uma by sending {uma: true}. */
  const claims = (socket: Socket): Partial<Connection> => {
    let claimed: Principal | null = null;
    return {
      receive(frame) {
        if (frame && typeof frame === 'object' && 'uma' in frame) claimed = uma;
        socket.sendFrame({ type: 'echo' });
      },
      identified: () => claimed,
    };
  };
  const opening = { principal: null, unknown: true };

  test('can send small frames, and large ones after authentication', async () => {
    const { connect } = serve({ limits: { firstFrameBytes: 100 }, opening }, claims);
    const client = await connect();
    const large = { text: 'x'.repeat(200) };
    client.send(large);
    expect((await client.next('error')).reason).toBe('the message is larger than 100 bytes');
    client.send({ uma: true });
    await client.next('echo');
    client.send(large);
    await client.next('echo');
  });

  test('shares a budget of queued bytes with other unauthenticated sockets; authenticated ones have their own', async () => {
    const authenticator = Promise.withResolvers<void>();
    const options = { anonymousBytes: 1_000, opening };
    const { connect, refusals, anonymous } = serve(options, (socket) => ({
      async receive() {
        await authenticator.promise;
        socket.sendFrame({ type: 'done' });
      },
    }));
    const [first, second] = [await connect(), await connect()];
    const frame = { text: 'x'.repeat(400) };
    first.send(frame);
    first.send(frame);
    second.send(frame);
    await second.next('limited');
    expect([refusals, anonymous.held]).toEqual([['anonymousBytes'], 2 * JSON.stringify(frame).length]);
    authenticator.resolve();
    await first.next('done');
    await first.next('done');
    second.send(frame);
    await second.next('done');
    expect(anonymous.held).toBe(0);
    const known = serve({ anonymousBytes: 1_000 });
    const client = await known.connect();
    client.send({ text: 'x'.repeat(2_000) });
    await client.next('echo');
  });

  test('is closed if it does not authenticate in time; an authenticated one stays', async () => {
    // The first one is authenticated within it, also on a busy machine.
    const { connect } = serve({ limits: { identifyWithin: 200 * slowness() }, opening }, claims);
    const [known, silent] = [await connect(), await connect()];
    known.send({ uma: true });
    await known.next('echo');
    expect(await silent.closed).toEqual({ code: 1008, reason: 'A token is required.' });
    known.send({ still: 'here' });
    await known.next('echo');
  });

  test('frees its slot after authentication, and takes one of its principal', async () => {
    const { connect } = serve({ limits: { unknownSockets: 1, socketsPerPrincipal: 1 }, opening }, claims);
    const first = await connect();
    first.send({ uma: true });
    await first.next('echo');
    first.send({ handled: true });
    await first.next('echo');
    const second = await connect();
    second.send({ uma: true });
    expect(await second.closed).toEqual({ code: 1013, reason: 'You have too many sockets.' });
    first.close();
    await first.closed;
    const third = await connect();
    third.send({ uma: true });
    await third.next('echo');
    third.send({ handled: true });
    await third.next('echo');
  });
});
