/** Responses of servers, proxies and broken programs, byte for byte, with the expected results. */
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';

export type CorpusCase = {
  readonly name: string;
  readonly response: Buffer;
  /** the server closes the connection after it */
  readonly closes?: boolean;
  readonly expected: {
    readonly status: number;
    readonly text: string;
    readonly headers?: Record<string, string>;
  };
  /** the next request goes over the same connection */
  readonly reused: boolean;
};

export type RefusedCase = Pick<CorpusCase, 'name' | 'response' | 'closes'> & {
  /** the end is known anyway, so the connection may be reused */
  readonly reused?: boolean;
};

const TEXT = 'data: {"a":"é"}\n\n';
const BYTES = Buffer.from(TEXT);

const lines = (...head: string[]): Buffer => Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1');
const joined = (...parts: (Buffer | string)[]): Buffer =>
  Buffer.concat(parts.map((part) => Buffer.from(part as string)));
const chunk = (data: Buffer, size = data.length.toString(16), more = ''): Buffer =>
  joined(`${size}${more}\r\n`, data, '\r\n');

const OK = 'HTTP/1.1 200 OK';
const CHUNKED = 'Transfer-Encoding: chunked';
const LENGTH = `Content-Length: ${BYTES.length}`;
const LAST = '0\r\n\r\n';

type Accepted = { response: Buffer; status?: number; text?: string; headers?: Record<string, string> };

const reusable = (name: string, { response, status = 200, text = TEXT, headers }: Accepted): CorpusCase => ({
  name,
  response,
  expected: { status, text, ...(headers ? { headers } : {}) },
  reused: true,
});
const closing = (name: string, accepted: Accepted): CorpusCase => ({
  ...reusable(name, accepted),
  closes: true,
  reused: false,
});

/** A body that the server compressed although the request forbids it. */
const compressed = (coding: string, bytes: Buffer): CorpusCase[] => [
  reusable(`${coding}, with a length`, {
    response: joined(lines(OK, `Content-Encoding: ${coding}`, `Content-Length: ${bytes.length}`), bytes),
  }),
  reusable(`${coding}, in chunks of three bytes`, {
    response: joined(
      lines(OK, `content-encoding: ${coding.toUpperCase()}`, CHUNKED),
      ...Array.from({ length: Math.ceil(bytes.length / 3) }, (_, at) =>
        chunk(bytes.subarray(at * 3, at * 3 + 3)),
      ),
      LAST,
    ),
  }),
  closing(`${coding}, until the close`, {
    response: joined(lines(OK, `Content-Encoding: ${coding}`, 'Connection: close'), bytes),
  }),
];

export const CORPUS: readonly CorpusCase[] = [
  reusable('a length', { response: joined(lines(OK, LENGTH), BYTES) }),
  reusable('a length of zero', { response: lines(OK, 'Content-Length: 0'), text: '' }),
  reusable('one chunk', { response: joined(lines(OK, CHUNKED), chunk(BYTES), LAST) }),
  reusable('a chunk for each byte', {
    response: joined(lines(OK, CHUNKED), ...Array.from(BYTES, (byte) => chunk(Buffer.of(byte))), LAST),
  }),
  reusable('no chunk but the last', { response: joined(lines(OK, CHUNKED), LAST), text: '' }),
  reusable('chunk sizes with leading zeros and capital letters', {
    response: joined(lines(OK, CHUNKED), chunk(Buffer.alloc(0xab, 'x'), '000AB'), '000\r\n\r\n'),
    text: 'x'.repeat(0xab),
  }),
  reusable('chunk extensions', {
    response: joined(
      lines(OK, CHUNKED),
      chunk(BYTES, undefined, ';name=value;quoted="a;b"'),
      '0;last\r\n\r\n',
    ),
  }),
  reusable('trailers', {
    response: joined(
      lines(OK, CHUNKED, 'Trailer: Server-Timing'),
      chunk(BYTES),
      '0\r\nServer-Timing: total;dur=12\r\nX-Sum: 1\r\n\r\n',
    ),
  }),
  reusable('names and values in odd cases', {
    response: joined(
      lines('HTTP/1.1 200 ok', 'tRaNsFeR-eNcOdInG: CHUNKED', 'CONNECTION: Keep-Alive'),
      chunk(BYTES),
      LAST,
    ),
  }),
  reusable('blanks and tabs around values', {
    response: joined(lines(OK, `Content-Length:\t ${BYTES.length} \t`, 'X-Odd:   a  b  '), BYTES),
    headers: { 'x-odd': 'a  b' },
  }),
  reusable('no blank after a colon, and empty values', {
    response: joined(lines(OK, `content-length:${BYTES.length}`, 'x-empty:', 'x-colons:a:b'), BYTES),
    headers: { 'x-empty': '', 'x-colons': 'a:b' },
  }),
  reusable('a folded header', {
    response: joined(lines(OK, 'X-Folded: one', ' two', '\tthree', LENGTH), BYTES),
    headers: { 'x-folded': 'one two three' },
  }),
  reusable('a header that is repeated', {
    response: joined(lines(OK, 'X-Many: a', 'x-many: b', LENGTH), BYTES),
    headers: { 'x-many': 'a, b' },
  }),
  reusable('a header of bytes that are not ASCII', {
    response: joined(lines(OK, 'X-Name: caf\xe9', LENGTH), BYTES),
  }),
  reusable('no reason phrase', { response: joined(lines('HTTP/1.1 200 ', LENGTH), BYTES) }),
  reusable('a status line that ends with the status', {
    response: joined(lines('HTTP/1.1 200', LENGTH), BYTES),
  }),
  reusable('interim responses before it', {
    response: joined(
      lines('HTTP/1.1 100 Continue'),
      lines('HTTP/1.1 103 Early Hints', 'Link: </a.css>; rel=preload', 'Content-Length: 3'),
      lines('HTTP/1.1 102 Processing'),
      lines(OK, LENGTH),
      BYTES,
    ),
  }),
  reusable('headers of 50 KB', {
    response: joined(
      lines(OK, ...Array.from({ length: 50 }, (_, at) => `X-Large-${at}: ${'x'.repeat(1_000)}`), LENGTH),
      BYTES,
    ),
  }),
  reusable('a status without a body', { response: lines('HTTP/1.1 204 No Content'), status: 204, text: '' }),
  reusable('a redirect, which is not followed', {
    response: lines('HTTP/1.1 307 Temporary Redirect', 'Location: http://127.0.0.1:1/', 'Content-Length: 0'),
    status: 307,
    text: '',
    headers: { location: 'http://127.0.0.1:1/' },
  }),
  reusable('an error with a body', {
    response: joined(lines('HTTP/1.1 529 Overloaded', LENGTH), BYTES),
    status: 529,
  }),
  closing('neither length nor chunks', { response: joined(lines(OK), BYTES) }),
  closing('HTTP/1.0', {
    response: joined(lines('HTTP/1.0 200 OK', 'Server: SimpleHTTP/0.6 Python/3.12'), BYTES),
  }),
  closing('HTTP/1.0 with a length', { response: joined(lines('HTTP/1.0 200 OK', LENGTH), BYTES) }),
  closing('a length, and the wish to close', {
    response: joined(lines(OK, 'Connection: Close', LENGTH), BYTES),
  }),
  closing('chunks, and the wish to close', {
    response: joined(lines(OK, 'Connection: foo, close', CHUNKED), chunk(BYTES), LAST),
  }),
  ...compressed('gzip', gzipSync(BYTES)),
  ...compressed('deflate', deflateSync(BYTES)),
  ...compressed('br', brotliCompressSync(BYTES)),
  reusable('deflate without its header, as many servers send it', {
    response: joined(
      lines(OK, 'Content-Encoding: deflate', `Content-Length: ${deflateRawSync(BYTES).length}`),
      deflateRawSync(BYTES),
    ),
  }),
];

/** None of these may be read as a complete response. */
export const REFUSED: readonly RefusedCase[] = [
  { name: 'nothing', response: Buffer.alloc(0), closes: true },
  { name: 'half a head', response: Buffer.from('HTTP/1.1 200 OK\r\nContent-Le'), closes: true },
  { name: 'half a body', response: joined(lines(OK, 'Content-Length: 100'), BYTES), closes: true },
  { name: 'chunks without the last', response: joined(lines(OK, CHUNKED), chunk(BYTES)), closes: true },
  { name: 'half a chunk', response: joined(lines(OK, CHUNKED), 'ff\r\nhalf'), closes: true },
  {
    name: 'gzip that breaks off',
    response: joined(
      lines(OK, 'Content-Encoding: gzip', 'Connection: close'),
      gzipSync(BYTES).subarray(0, 15),
    ),
    closes: true,
  },
  {
    name: 'gzip that is none',
    response: joined(lines(OK, 'Content-Encoding: gzip', LENGTH), BYTES),
    reused: true,
  },
  { name: 'a chunk size that is no number', response: joined(lines(OK, CHUNKED), chunk(BYTES, 'xyz'), LAST) },
  { name: 'a negative chunk size', response: joined(lines(OK, CHUNKED), chunk(BYTES, '-1'), LAST) },
  {
    name: 'a chunk size beyond all bounds',
    response: joined(lines(OK, CHUNKED), chunk(BYTES, 'f'.repeat(20)), LAST),
  },
  { name: 'a chunk size that is missing', response: joined(lines(OK, CHUNKED), chunk(BYTES, ''), LAST) },
  { name: 'a chunk longer than its size', response: joined(lines(OK, CHUNKED), chunk(BYTES, '5'), LAST) },
  {
    name: 'a length that is no number',
    response: joined(lines(OK, 'Content-Length: many'), BYTES),
    closes: true,
  },
  {
    name: 'two lengths that differ',
    response: joined(lines(OK, 'Content-Length: 5', LENGTH), BYTES),
    closes: true,
  },
  {
    name: 'a name with a blank',
    response: joined(lines(OK, 'Content Length: 5', LENGTH), BYTES),
    closes: true,
  },
  { name: 'what is not HTTP', response: Buffer.from('SSH-2.0-OpenSSH_9.6\r\n\r\n'), closes: true },
  {
    name: 'another protocol',
    response: lines('HTTP/1.1 101 Switching Protocols', 'Upgrade: h2c'),
    closes: true,
  },
  {
    name: 'headers of 200 KB',
    response: joined(
      lines(OK, ...Array.from({ length: 200 }, (_, at) => `X-Large-${at}: ${'x'.repeat(1_000)}`), LENGTH),
      BYTES,
    ),
  },
];
