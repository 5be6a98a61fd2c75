/** A reader over a plain TCP connection that can stop reading, without a client library in between. */
import { connect, type Socket } from 'node:net';
import { within } from '../packages/server/src/testing/until.ts';

export type RawReader = {
  /** everything after the response headers, as text frames or as the body */
  readonly texts: string[];
  /** the close code of the server; null if it ended without one */
  readonly closed: Promise<number | null>;
  stopReading(): void;
  resume(): void;
  /** resolves with the first matching text, from the beginning */
  until(wanted: (text: string) => boolean): Promise<string>;
  send(frame: object): void;
  end(): void;
};

/** Opens a WebSocket at the path, or with `accept` sends a request and reads the response as it arrives. */
export async function rawReader(http: string, path: string, accept?: string): Promise<RawReader> {
  const { hostname, port, host } = new URL(http);
  const socket = connect(Number(port), hostname);
  const upgrade =
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${accept ? `Accept: ${accept}` : upgrade}\r\n\r\n`);
  const head = await headOf(socket);
  if (!/^HTTP\/1\.1 (101|200) /.test(head.text)) throw new Error(head.text);
  return reading(socket, head.rest, accept ? cutChunks : cutFrames);
}

async function headOf(socket: Socket): Promise<{ text: string; rest: Buffer }> {
  let bytes = Buffer.alloc(0);
  for (;;) {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    socket.once('data', resolve).once('error', reject);
    bytes = Buffer.concat([bytes, await promise]);
    socket.off('error', reject);
    const end = bytes.indexOf('\r\n\r\n');
    if (end >= 0) return { text: bytes.subarray(0, end).toString(), rest: bytes.subarray(end + 4) };
  }
}

type Cut = { texts: string[]; rest: Buffer; code?: number };

function reading(socket: Socket, first: Buffer, cut: (bytes: Buffer) => Cut): RawReader {
  const texts: string[] = [];
  const closed = Promise.withResolvers<number | null>();
  let rest = Buffer.alloc(0);
  let look: () => void = () => undefined;
  const take = (bytes: Buffer) => {
    const parts = cut(Buffer.concat([rest, bytes]));
    rest = Buffer.from(parts.rest);
    texts.push(...parts.texts);
    if (parts.code !== undefined) closed.resolve(parts.code);
    look();
  };
  socket.on('data', take).on('close', () => closed.resolve(null));
  socket.on('error', () => closed.resolve(null));
  take(first);
  return {
    texts,
    closed: closed.promise,
    stopReading: () => void socket.pause(),
    resume: () => void socket.resume(),
    async until(wanted) {
      for (let index = 0; ; index++) {
        while (index >= texts.length) {
          const { promise, resolve } = Promise.withResolvers<void>();
          look = resolve;
          const end = await within(
            Promise.race([promise, closed.promise.then(() => 'end' as const)]),
            `nothing matches ${wanted}; last: ${texts.at(-1)?.slice(0, 300)}`,
          );
          if (end && index >= texts.length) throw new Error(`closed; last: ${texts.at(-1)?.slice(0, 300)}`);
        }
        if (wanted(texts[index] as string)) return texts[index] as string;
      }
    },
    send: (frame) => void socket.write(masked(JSON.stringify(frame))),
    end: () => void socket.destroy(),
  };
}

/** Parses text frames of a server, which are neither masked nor fragmented. */
function cutFrames(bytes: Buffer): Cut {
  const texts: string[] = [];
  let code: number | undefined;
  for (;;) {
    if (bytes.length < 2) break;
    const short = (bytes[1] as number) & 0x7f;
    const start = short < 126 ? 2 : short === 126 ? 4 : 10;
    if (bytes.length < start) break;
    const size =
      short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
    if (bytes.length < start + size) break;
    const body = bytes.subarray(start, start + size);
    const kind = (bytes[0] as number) & 0x0f;
    if (kind === 1) texts.push(body.toString());
    if (kind === 8) code = body.length >= 2 ? body.readUInt16BE(0) : 1005;
    bytes = bytes.subarray(start + size);
  }
  return { texts, rest: bytes, code };
}

/** Parses the complete events in the chunks of a response. */
function cutChunks(bytes: Buffer): Cut {
  const texts: string[] = [];
  for (;;) {
    const line = bytes.indexOf('\r\n');
    if (line < 0) break;
    const size = Number.parseInt(bytes.subarray(0, line).toString(), 16);
    if (bytes.length < line + 2 + size + 2) break;
    texts.push(bytes.subarray(line + 2, line + 2 + size).toString());
    bytes = bytes.subarray(line + 2 + size + 2);
  }
  return { texts, rest: bytes };
}

function masked(text: string): Buffer {
  const body = Buffer.from(text);
  const head = Buffer.from(
    body.length < 126 ? [0x81, 0x80 | body.length] : [0x81, 0xfe, body.length >> 8, body.length & 0xff],
  );
  // A zero mask changes nothing.
  return Buffer.concat([head, Buffer.alloc(4), body]);
}
