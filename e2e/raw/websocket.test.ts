/** RFC 6455 by hand: what a peer may and may not send, and how the connection ends. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { within } from '../../packages/server/src/testing/until.ts';
import { sendRaw } from '../listeners/raw-http.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const port = () => Number(new URL(server.http).port);

type Frame = {
  readonly opcode: number;
  readonly payload?: string | Uint8Array;
  readonly fin?: boolean;
  /** the three reserved bits, 4 being RSV1 */
  readonly reserved?: number;
  readonly masked?: boolean;
  /** the length that the header claims */
  readonly length?: bigint;
  /** the width of the length field; default: the shortest */
  readonly width?: 7 | 16 | 64;
};

const TEXT = 1;
const BINARY = 2;
const CLOSE = 8;
const PING = 9;
const PONG = 10;

function bytesOf({
  opcode,
  payload = '',
  fin = true,
  reserved = 0,
  masked = true,
  length,
  width,
}: Frame): Buffer {
  const body = Buffer.from(payload as string);
  const size = length ?? BigInt(body.length);
  const field = width ?? (size < 126n ? 7 : size < 65_536n ? 16 : 64);
  const bit = masked ? 0x80 : 0;
  const head = [(fin ? 0x80 : 0) | (reserved << 4) | opcode];
  const long = Buffer.alloc(field === 64 ? 8 : field === 16 ? 2 : 0);
  if (field === 7) head.push(bit | Number(size));
  else head.push(bit | (field === 16 ? 126 : 127));
  if (field === 16) long.writeUInt16BE(Number(size));
  if (field === 64) long.writeBigUInt64BE(size);
  const mask = Buffer.from(masked ? [1, 2, 3, 4] : []);
  const shown = masked ? body.map((byte, index) => byte ^ (mask[index % 4] ?? 0)) : body;
  return Buffer.concat([Buffer.from(head), long, mask, shown]);
}

type Received = { readonly opcode: number; readonly payload: Buffer };

/** A socket at `/acp`, which answers each message that is no JSON-RPC with an error. */
async function opened(path = '/acp') {
  const socket = connect(port(), '127.0.0.1');
  const frames: Received[] = [];
  const watchers = new Set<() => void>();
  const closed = Promise.withResolvers<void>();
  const upgraded = Promise.withResolvers<void>();
  let rest = Buffer.alloc(0);
  let isUpgraded = false;
  socket.on('error', () => undefined);
  socket.on('close', () => {
    closed.resolve();
    for (const look of watchers) look();
  });
  socket.on('data', (chunk) => {
    rest = Buffer.concat([rest, Buffer.from(chunk)]);
    if (!isUpgraded) {
      const end = rest.indexOf('\r\n\r\n');
      if (end < 0) return;
      isUpgraded = rest.subarray(0, end).toString().startsWith('HTTP/1.1 101 ');
      rest = rest.subarray(end + 4);
      upgraded.resolve();
    }
    for (let frame = take(); frame; frame = take()) frames.push(frame);
    for (const look of watchers) look();
  });
  function take(): Received | null {
    const [first = 0, second = 0] = rest;
    if (rest.length < 2) return null;
    const wide = second === 126 ? 2 : second === 127 ? 8 : 0;
    if (rest.length < 2 + wide) return null;
    const size = wide === 2 ? rest.readUInt16BE(2) : wide === 8 ? Number(rest.readBigUInt64BE(2)) : second;
    if (rest.length < 2 + wide + size) return null;
    const payload = Buffer.from(rest.subarray(2 + wide, 2 + wide + size));
    rest = rest.subarray(2 + wide + size);
    return { opcode: first & 0x0f, payload };
  }
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port()}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
  );
  await upgraded.promise;
  /** The first frame with this opcode; null if the connection has closed without one. */
  const frame = (opcode: number): Promise<Received | null> =>
    within(
      new Promise((resolve) => {
        const look = () => {
          const found = frames.find((one) => one.opcode === opcode);
          if (!found && !socket.destroyed) return;
          watchers.delete(look);
          resolve(found ?? null);
        };
        watchers.add(look);
        look();
      }),
      `no frame ${opcode}`,
    );
  return {
    send: (...sent: Frame[]) => void socket.write(Buffer.concat(sent.map(bytesOf))),
    raw: (bytes: Uint8Array) => void socket.write(bytes),
    frame,
    /** The status of the close frame; 0 if the connection has closed without one. */
    async code(): Promise<number> {
      const close = await frame(CLOSE);
      return close && close.payload.length >= 2 ? close.payload.readUInt16BE(0) : 0;
    },
    gone: () => within(closed.promise, 'the connection was not closed'),
    end: () => socket.destroy(),
  };
}

const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: 1 } });
const bytes = Buffer.from(ping);

describe('messages', () => {
  /** Each ends with the answer to `initialize`. */
  test.each<[string, readonly Frame[]]>([
    ['one frame', [{ opcode: TEXT, payload: ping }]],
    ['a length of 16 bits that could be shorter', [{ opcode: TEXT, payload: ping, width: 16 }]],
    ['a length of 64 bits that could be shorter', [{ opcode: TEXT, payload: ping, width: 64 }]],
    [
      'two fragments',
      [
        { opcode: TEXT, payload: bytes.subarray(0, 9), fin: false },
        { opcode: 0, payload: bytes.subarray(9) },
      ],
    ],
    [
      'fragments of one byte',
      [...bytes].map((byte, index) => ({
        opcode: index === 0 ? TEXT : 0,
        payload: Uint8Array.of(byte),
        fin: index === bytes.length - 1,
      })),
    ],
    [
      'empty fragments',
      [
        { opcode: TEXT, fin: false },
        { opcode: 0, payload: ping, fin: false },
        { opcode: 0, fin: false },
        { opcode: 0 },
      ],
    ],
    [
      'a ping between fragments',
      [
        { opcode: TEXT, payload: bytes.subarray(0, 9), fin: false },
        { opcode: PING, payload: 'x' },
        { opcode: 0, payload: bytes.subarray(9) },
      ],
    ],
    [
      'a pong that nobody asked for',
      [
        { opcode: PONG, payload: 'x' },
        { opcode: TEXT, payload: ping },
      ],
    ],
    [
      'several pings before it',
      [...Array.from({ length: 10 }, () => ({ opcode: PING })), { opcode: TEXT, payload: ping }],
    ],
    [
      'characters of two, three and four bytes',
      [{ opcode: TEXT, payload: `${ping.slice(0, -1)},"x":"é€😀"}` }],
    ],
  ])('%s', async (_, frames) => {
    const socket = await opened();
    socket.send(...frames);
    const answer = await socket.frame(TEXT);
    expect(JSON.parse(String(answer?.payload))).toMatchObject({ id: 1, result: { protocolVersion: 1 } });
    socket.end();
  });

  test.each([0, 1, 2, 3, 5, 7])('written in %i bytes and the rest', async (at) => {
    const socket = await opened();
    const whole = bytesOf({ opcode: TEXT, payload: ping });
    socket.raw(whole.subarray(0, at));
    await Bun.sleep(1);
    socket.raw(whole.subarray(at));
    expect(await socket.frame(TEXT)).not.toBeNull();
    socket.end();
  });

  test.each(['', 'x', 'x'.repeat(125)])('a ping is answered with its payload (%#)', async (payload) => {
    const socket = await opened();
    socket.send({ opcode: PING, payload });
    expect(String((await socket.frame(PONG))?.payload)).toBe(payload);
    socket.end();
  });
});

describe('what breaks the protocol closes the connection', () => {
  test.each<[string, readonly Frame[]]>([
    ['RSV1 without an extension', [{ opcode: TEXT, payload: 'x', reserved: 4 }]],
    ['RSV2', [{ opcode: TEXT, payload: 'x', reserved: 2 }]],
    ['RSV3', [{ opcode: TEXT, payload: 'x', reserved: 1 }]],
    ...[3, 4, 5, 6, 7, 11, 12, 13, 14, 15].map((opcode): [string, Frame[]] => [
      `the reserved opcode ${opcode}`,
      [{ opcode, payload: 'x' }],
    ]),
    ['a fragmented ping', [{ opcode: PING, payload: 'x', fin: false }]],
    ['a fragmented close', [{ opcode: CLOSE, fin: false }]],
    ['a ping of 126 bytes', [{ opcode: PING, payload: 'x'.repeat(126) }]],
    ['a close of 126 bytes', [{ opcode: CLOSE, payload: 'x'.repeat(126) }]],
    ['a continuation of nothing', [{ opcode: 0, payload: 'x' }]],
    [
      'a new message between fragments',
      [
        { opcode: TEXT, payload: 'x', fin: false },
        { opcode: TEXT, payload: 'x' },
      ],
    ],
    ['no mask', [{ opcode: TEXT, payload: ping, masked: false }]],
    ['a length with its highest bit', [{ opcode: TEXT, length: 1n << 63n, width: 64 }]],
    ['a length of an exabyte', [{ opcode: TEXT, length: 1n << 60n, width: 64 }]],
  ])('%s', async (_, frames) => {
    const socket = await opened();
    socket.send(...frames);
    await socket.gone();
    expect((await socket.frame(TEXT))?.payload.toString() ?? '').not.toContain('"result"');
    expect([0, 1002, 1006, 1009]).toContain(await socket.code());
  });

  test.each<[string, readonly number[]]>([
    ['a byte that begins nothing', [0xff]],
    ['a lone continuation', [0x80]],
    ['a character cut off', [0xc3]],
    ['an overlong slash', [0xc0, 0xaf]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['above the last code point', [0xf4, 0x90, 0x80, 0x80]],
  ])('text that is not UTF-8: %s', async (_, wrong) => {
    const socket = await opened();
    socket.send({
      opcode: TEXT,
      payload: Buffer.concat([Buffer.from('"'), Buffer.from(wrong), Buffer.from('"')]),
    });
    await socket.gone();
    expect([0, 1007]).toContain(await socket.code());
  });
});

describe('closing', () => {
  test.each([1000, 1001, 1003, 1008, 1011, 3000, 4999])('the code %i is answered', async (code) => {
    const socket = await opened();
    const payload = Buffer.alloc(2);
    payload.writeUInt16BE(code);
    socket.send({ opcode: CLOSE, payload });
    expect(await socket.frame(CLOSE)).not.toBeNull();
    await socket.gone();
  });

  test.each([
    ['no code', Buffer.alloc(0)],
    ['a reason', Buffer.concat([Buffer.from([0x03, 0xe8]), Buffer.from('bye')])],
  ])('with %s', async (_, payload) => {
    const socket = await opened();
    socket.send({ opcode: CLOSE, payload });
    expect(await socket.frame(CLOSE)).not.toBeNull();
    await socket.gone();
  });

  test('nothing after a close frame is read', async () => {
    const socket = await opened();
    socket.send({ opcode: CLOSE }, { opcode: TEXT, payload: ping });
    await socket.gone();
    expect(await socket.frame(TEXT)).toBeNull();
  });

  test('a binary message is refused in the format of the dialect, or closes', async () => {
    const socket = await opened();
    socket.send({ opcode: BINARY, payload: Uint8Array.of(0, 1, 2) });
    const answer = await Promise.race([socket.frame(TEXT), socket.frame(CLOSE)]);
    expect(answer).not.toBeNull();
    socket.end();
  });
});

describe('the handshake', () => {
  const GET = 'GET /acp HTTP/1.1';

  const handshake = (changed: Record<string, string | null>, line = GET) => {
    const headers: Record<string, string | null> = {
      Host: `127.0.0.1:${port()}`,
      Upgrade: 'websocket',
      Connection: 'Upgrade',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
      ...changed,
    };
    return sendRaw(port(), {
      line,
      headers: Object.entries(headers).flatMap(([name, value]) =>
        value === null ? [] : [[name, value] as const],
      ),
    });
  };

  test('is accepted with the hash of the key', async () => {
    const { status, headers } = await handshake({});
    expect([status, headers.get('sec-websocket-accept')]).toEqual([101, 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=']);
    expect(headers.get('upgrade')?.toLowerCase()).toBe('websocket');
  });

  test.each<[string, Record<string, string | null>, string]>([
    ['without a key', { 'Sec-WebSocket-Key': null }, GET],
    ['without Upgrade', { Upgrade: null }, GET],
    ['with another protocol in Upgrade', { Upgrade: 'h2c' }, GET],
    ['at a path without sockets', {}, 'GET /nothing HTTP/1.1'],
    ['with POST', {}, 'POST /acp HTTP/1.1'],
    ['from a foreign page', { Origin: 'https://evil.example' }, GET],
    ['for a foreign host', { Host: 'evil.example' }, GET],
  ])('is refused %s', async (_, changed, line) => {
    const { status } = await handshake(changed, line);
    expect(status).not.toBe(101);
  });
});
