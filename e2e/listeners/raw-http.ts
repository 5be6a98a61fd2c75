/** HTTP/1.1 written by hand on a TCP socket, because client libraries set Host and refuse invalid requests. */
import { connect } from 'node:net';

export type RawAnswer = {
  /** 0 if the connection was closed without a response */
  readonly status: number;
  /** lower-case names */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
};

export type RawRequest = {
  readonly line: string;
  /** verbatim, in order; a name may occur twice */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: string;
};

const bytesOf = ({ line, headers, body = '' }: RawRequest): string =>
  [
    line,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
    '',
    body,
  ].join('\r\n');

/** Null until it is complete. */
function answerIn(text: string, isHead: boolean, ended: boolean): RawAnswer | null {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return ended ? { status: 0, headers: new Map(), body: text } : null;
  const [first = '', ...lines] = text.slice(0, end).split('\r\n');
  const status = Number(first.split(' ')[1]);
  const headers = new Map(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const body = text.slice(end + 4);
  const expected = isHead || status === 101 ? 0 : Number(headers.get('content-length') ?? 0);
  return body.length >= expected || ended ? { status, headers, body } : null;
}

/** Sends the request on a new connection, and closes it after the response. */
export function sendRaw(port: number, request: RawRequest): Promise<RawAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>();
  const isHead = request.line.startsWith('HEAD ');
  let text = '';
  const look = (ended: boolean) => {
    const answer = answerIn(text, isHead, ended);
    if (!answer) return;
    resolve(answer);
    socket.destroy();
  };
  const socket = connect(port, '127.0.0.1', () => socket.write(bytesOf(request)));
  socket.setEncoding('latin1');
  socket.on('data', (chunk) => {
    text += chunk;
    look(false);
  });
  socket.on('error', reject);
  socket.on('close', () => look(true));
  return promise;
}
