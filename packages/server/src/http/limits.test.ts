/** What peers can make grow, and how far: every limit of the transports over real sockets, with small numbers. */
import { afterEach, describe, expect, test } from 'bun:test';
import { connect as connectTcp, type Socket as TcpSocket } from 'node:net';
import { type Principal, PrincipalId, ROLE_PERMISSIONS } from '@parlance/protocol';
import { type EchoOptions, serveEcho } from '../testing/echo.ts';
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
  test('a frame beyond them is not read, and answered with when to try again', async () => {
    const { connect, refusals } = serve({ limits: { framesPerMinute: 3 } });
    const client = await connect();
    for (let count = 1; count <= 5; count++) client.send({ count });
    for (let count = 1; count <= 3; count++) expect((await client.next('echo')).frame).toEqual({ count });
    expect((await client.next('limited')).retryAfterMs).toBeWithin(19_000, 20_001);
    await client.next('limited');
    expect(refusals).toEqual(['framesPerMinute', 'framesPerMinute']);
  });

  test('who goes on all the same is let go with 1008', async () => {
    const { connect } = serve({ limits: { framesPerMinute: 1 } });
    const client = await connect();
    for (let count = 0; count < 12; count++) client.send({ count });
    expect(await client.closed).toEqual({ code: 1008, reason: 'Too many messages' });
    expect(client.frames.filter(({ type }) => type === 'limited')).toHaveLength(10);
  });

  test('a burst of a whole minute is taken, however slowly it is handled', async () => {
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

  test('frames that wait are bounded by their bytes, too', async () => {
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

test('frames that are taken make up for refused ones: only who does not stop is let go', async () => {
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

describe('how many sockets', () => {
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
    test(`${limit}: one more is told ${status} before the upgrade, until one has gone`, async () => {
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

  test('a handshake that fails takes no place', async () => {
    const { connect, http } = serve({ limits: { sockets: 1 } });
    for (let count = 0; count < 3; count++)
      expect(
        (await fetch(`${http}/ws`, { headers: { upgrade: 'websocket', connection: 'upgrade' } })).status,
      ).toBe(400);
    await connect();
  });

  test('200 at once are no trouble', async () => {
    const { connect, sockets } = serve({});
    const clients = await Promise.all(Array.from({ length: 200 }, connect));
    for (const client of clients) client.send({ hello: true });
    await Promise.all(clients.map((client) => client.next('echo')));
    expect(sockets.size).toBe(200);
  });
});

describe('a socket that has yet to say who it is', () => {
  const uma: Principal = { id: PrincipalId.parse('uma'), role: 'user', permissions: ROLE_PERMISSIONS.user };

  /** Whoever sends {uma: true} is uma from then on. */
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

  test('may send smaller frames, and large ones when it is known', async () => {
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

  test('shares a budget of bytes that wait with all that are unknown; who is known has another', async () => {
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

  test('is let go when it does not say so in time; who said it stays', async () => {
    const { connect } = serve({ limits: { identifyWithin: 200 }, opening }, claims);
    const [known, silent] = [await connect(), await connect()];
    known.send({ uma: true });
    await known.next('echo');
    expect(await silent.closed).toEqual({ code: 1008, reason: 'A token is required.' });
    known.send({ still: 'here' });
    await known.next('echo');
  });

  test('frees its place among the unknown, and takes one among those of its principal', async () => {
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

test('a frame that is nested too deeply is not parsed, and the socket goes on', async () => {
  const { connect } = serve({});
  const client = await connect();
  for (const text of ['['.repeat(201), '{"a":'.repeat(100_000)]) {
    client.socket.send(text);
    expect((await client.next('error')).reason).toBe('the message is nested too deeply');
  }
  const deepest = `${'['.repeat(200)}${']'.repeat(200)}`;
  client.socket.send(deepest);
  expect(JSON.stringify((await client.next('echo')).frame)).toBe(deepest);
});

describe('a peer that needs no token', () => {
  test('may send small frames until it is established', async () => {
    let established = false;
    const options = { limits: { firstFrameBytes: 100 }, opening: { principal: null } };
    const { connect } = serve(options, () => ({ established: () => established }));
    const client = await connect();
    const large = { text: 'x'.repeat(200) };
    client.send(large);
    expect((await client.next('error')).reason).toBe('the message is larger than 100 bytes');
    established = true;
    client.send(large);
    await client.next('echo');
  });
});

describe('fragments', () => {
  /** A fragment of a text message, masked with zeros. */
  const fragment = (text: string, { first, last }: { first: boolean; last: boolean }): Buffer =>
    Buffer.concat([
      Buffer.from([(last ? 0x80 : 0) | (first ? 0x01 : 0), 0x80 | text.length, 0, 0, 0, 0]),
      Buffer.from(text),
    ]);

  async function rawSocket(
    port: number,
  ): Promise<{ tcp: TcpSocket; closed: Promise<void>; said: () => string }> {
    const tcp = connectTcp(port, '127.0.0.1');
    const closed = Promise.withResolvers<void>();
    const upgraded = Promise.withResolvers<void>();
    let said = '';
    tcp.on('close', () => closed.resolve());
    tcp.on('error', () => closed.resolve());
    tcp.on('data', (bytes) => {
      said += bytes.toString('latin1');
      if (said.includes('\r\n\r\n')) upgraded.resolve();
    });
    const headers = Object.entries({ host: '127.0.0.1', ...UPGRADE }).map(
      ([name, value]) => `${name}: ${value}`,
    );
    tcp.write(`GET /ws HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`);
    await upgraded.promise;
    stops.push(() => tcp.destroy());
    return { tcp, closed: closed.promise, said: () => said };
  }

  test('many tiny ones are one frame', async () => {
    const received = Promise.withResolvers<unknown>();
    const { port } = serve({ limits: { frameBytes: 1_000 } }, () => ({ receive: received.resolve }));
    const { tcp } = await rawSocket(port);
    const text = JSON.stringify({ text: 'x'.repeat(500) });
    for (let at = 0; at < text.length; at++)
      tcp.write(fragment(text.charAt(at), { first: at === 0, last: at === text.length - 1 }));
    expect(await received.promise).toEqual(JSON.parse(text));
  });

  test('a message of many that never ends is cut off a little beyond the largest frame', async () => {
    const { port, sockets } = serve({ limits: { frameBytes: 1_000 } });
    const { tcp, closed } = await rawSocket(port);
    const text = 'x'.repeat(100);
    for (let at = 0; at < 670; at++) tcp.write(fragment(text, { first: at === 0, last: false }));
    await closed;
    expect(sockets.size).toBe(0);
  });

  test('a message that never ends, from a peer that has gone silent, is given up', async () => {
    const { port, sockets } = serve({ limits: { idleSeconds: 8 } });
    const { tcp, closed } = await rawSocket(port);
    tcp.write(fragment('x', { first: true, last: false }));
    await closed;
    expect(sockets.size).toBe(0);
  });
});

test('compression is not agreed to', async () => {
  const { port } = serve({});
  const tcp = connectTcp(port, '127.0.0.1');
  const headers = { host: '127.0.0.1', ...UPGRADE, 'sec-websocket-extensions': 'permessage-deflate' };
  tcp.write(
    `GET /ws HTTP/1.1\r\n${Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('')}\r\n`,
  );
  const answer = await new Promise<string>((resolve) =>
    tcp.once('data', (bytes) => resolve(bytes.toString())),
  );
  tcp.destroy();
  expect(answer).toStartWith('HTTP/1.1 101');
  expect(answer.toLowerCase()).not.toContain('permessage-deflate');
});

describe('a body that is too large', () => {
  test('is refused with 413', async () => {
    const { http } = serve({ maxBodyBytes: 1_000 });
    expect((await fetch(http, { method: 'POST', body: 'x'.repeat(1_001) })).status).toBe(413);
    expect(await (await fetch(http, { method: 'POST', body: 'x'.repeat(1_000) })).text()).toBe(
      'a route, 1000',
    );
  });
});
