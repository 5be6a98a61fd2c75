/** A request over a plain TCP connection whose body the test sends piece by piece. */
import { connect } from 'node:net';

export type SlowRequest = {
  send(piece: string): void;
  /** status line, headers and body; truncated if the connection ends before */
  readonly answer: Promise<string>;
  /** resolves when the connection is closed, by either side */
  readonly closed: Promise<void>;
  end(): void;
};

export type SlowHead = {
  readonly path: string;
  /** absent: a chunked body of unknown length */
  readonly length?: number;
  readonly token?: string;
  /** for X-Forwarded-For */
  readonly from?: string;
};

export function slowRequest(http: string, { path, length, token, from }: SlowHead): SlowRequest {
  const { hostname, port, host } = new URL(http);
  const socket = connect(Number(port), hostname);
  const answered = Promise.withResolvers<string>();
  const closed = Promise.withResolvers<void>();
  let text = '';
  socket.setEncoding('utf8');
  socket.on('data', (piece) => {
    text += piece;
    if (isWhole(text)) answered.resolve(text);
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    answered.resolve(text);
    closed.resolve();
  });
  const head = [
    `POST ${path} HTTP/1.1`,
    `Host: ${host}`,
    'Content-Type: application/json',
    length === undefined ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`,
    ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]),
    ...(from === undefined ? [] : [`X-Forwarded-For: ${from}`]),
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  return {
    send: (piece) =>
      void socket.write(
        length === undefined ? `${Buffer.byteLength(piece).toString(16)}\r\n${piece}\r\n` : piece,
      ),
    answer: answered.promise,
    closed: closed.promise,
    end: () => void socket.destroy(),
  };
}

function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  const length = text.match(/^content-length: (\d+)/im)?.[1];
  return end >= 0 && Buffer.byteLength(text.slice(end + 4)) >= Number(length ?? 0);
}
