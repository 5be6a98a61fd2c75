/** A client that withholds the last byte of a WebSocket message, and never closes its side. */
import { connect } from 'node:net';

export type Unfinished = {
  /** resolves with the status of the upgrade; 0 if the connection closed before */
  readonly status: Promise<number>;
  /** resolves when the server has closed the TCP connection, not only the WebSocket */
  readonly gone: Promise<void>;
  end(): void;
};

export type Shape = 'one frame' | 'fragments' | 'fragments and a close frame';

export type UnfinishedOptions = {
  readonly path: string;
  readonly bytes: number;
  readonly shape: Shape;
  /** for X-Forwarded-For */
  readonly from?: string;
};

const FRAGMENT_BYTES = 65_536;

export function unfinishedFrame(http: string, { path, bytes, shape, from }: UnfinishedOptions): Unfinished {
  const { hostname, port, host } = new URL(http);
  const tcp = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  const status = Promise.withResolvers<number>();
  const gone = Promise.withResolvers<void>();
  let said = '';
  tcp.on('error', () => undefined);
  tcp.on('close', () => {
    status.resolve(0);
    gone.resolve();
  });
  tcp.on('data', (chunk) => {
    if (said.includes('\r\n\r\n')) return;
    said += chunk.toString('latin1');
    if (!said.includes('\r\n\r\n')) return;
    const answered = Number(said.slice('HTTP/1.1 '.length).slice(0, 3));
    status.resolve(answered);
    if (answered === 101) for (const piece of pieces(bytes, shape)) tcp.write(piece);
    else tcp.destroy();
  });
  tcp.write(
    [
      `GET ${path} HTTP/1.1`,
      `host: ${host}`,
      'upgrade: websocket',
      'connection: Upgrade',
      'sec-websocket-version: 13',
      'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
      ...(from === undefined ? [] : [`x-forwarded-for: ${from}`]),
      '\r\n',
    ].join('\r\n'),
  );
  return { status: status.promise, gone: gone.promise, end: () => tcp.destroy() };
}

function* pieces(bytes: number, shape: Shape): Generator<Buffer> {
  if (shape === 'one frame') {
    yield header(0x81, bytes + 1);
    yield Buffer.alloc(bytes, 'x');
    return;
  }
  for (let sent = 0; sent < bytes; sent += FRAGMENT_BYTES) {
    const length = Math.min(FRAGMENT_BYTES, bytes - sent);
    yield header(sent === 0 ? 0x01 : 0x00, length);
    yield Buffer.alloc(length, 'x');
  }
  if (shape === 'fragments and a close frame') yield Buffer.from([0x88, 0x80, 0, 0, 0, 0]);
}

/** The header of a frame with a zero mask. */
function header(first: number, length: number): Buffer {
  const bytes = Buffer.alloc(14);
  bytes[0] = first;
  bytes[1] = 0x80 | 127;
  bytes.writeBigUInt64BE(BigInt(length), 2);
  return bytes;
}
