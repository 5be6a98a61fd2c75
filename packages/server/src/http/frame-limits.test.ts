/** Limits on peers: nesting, fragments, compression, bodies. Over real sockets, with small limits. */
import { afterEach, describe, expect, test } from 'bun:test';
import { connect as connectTcp, type Socket as TcpSocket } from 'node:net';
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

test('a frame that is nested too deeply is not parsed, and the socket continues', async () => {
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
  test('can send only small frames until it is established', async () => {
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
  ): Promise<{ tcp: TcpSocket; closed: Promise<void>; received: () => string }> {
    const tcp = connectTcp(port, '127.0.0.1');
    const closed = Promise.withResolvers<void>();
    const upgraded = Promise.withResolvers<void>();
    let received = '';
    tcp.on('close', () => closed.resolve());
    tcp.on('error', () => closed.resolve());
    tcp.on('data', (bytes) => {
      received += bytes.toString('latin1');
      if (received.includes('\r\n\r\n')) upgraded.resolve();
    });
    const headers = Object.entries({ host: '127.0.0.1', ...UPGRADE }).map(
      ([name, value]) => `${name}: ${value}`,
    );
    tcp.write(`GET /ws HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`);
    await upgraded.promise;
    stops.push(() => tcp.destroy());
    return { tcp, closed: closed.promise, received: () => received };
  }

  test('form one frame', async () => {
    const received = Promise.withResolvers<unknown>();
    const { port } = serve({ limits: { frameBytes: 1_000 } }, () => ({ receive: received.resolve }));
    const { tcp } = await rawSocket(port);
    const text = JSON.stringify({ text: 'x'.repeat(500) });
    for (let at = 0; at < text.length; at++)
      tcp.write(fragment(text.charAt(at), { first: at === 0, last: at === text.length - 1 }));
    expect(await received.promise).toEqual(JSON.parse(text));
  });

  test('of an endless message are cut off slightly above the largest frame', async () => {
    const { port, sockets } = serve({ limits: { frameBytes: 1_000 } });
    const { tcp, closed } = await rawSocket(port);
    const text = 'x'.repeat(100);
    for (let at = 0; at < 670; at++) tcp.write(fragment(text, { first: at === 0, last: false }));
    await closed;
    expect(sockets.size).toBe(0);
  });

  test('of an endless message from a silent peer are dropped', async () => {
    const { port, sockets } = serve({ limits: { idleSeconds: 8 } });
    const { tcp, closed } = await rawSocket(port);
    tcp.write(fragment('x', { first: true, last: false }));
    await closed;
    expect(sockets.size).toBe(0);
  });
});

test('compression is not negotiated', async () => {
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
