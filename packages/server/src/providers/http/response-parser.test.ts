import { describe, expect, test } from 'bun:test';
import { byteByByte, recut } from '../../testing/providers/suite/recut.ts';
import { ResponseParser } from './response-parser.ts';

type Read = { status: number; body: string; complete: boolean; reusable: boolean };

/** Reads the pieces; then the server closes, if `closes`. */
function read(pieces: readonly Uint8Array[], closes = false): Read {
  const reader = new ResponseParser();
  let body = '';
  for (const piece of pieces)
    reader.read(Buffer.from(piece), (bytes, start, end) => {
      expect(end).toBeGreaterThan(start);
      body += bytes.toString('utf8', start, end);
    });
  if (closes) reader.close();
  const { complete, reusable } = reader;
  return { status: reader.head?.status ?? 0, body, complete, reusable };
}

const bytes = (text: string) => Buffer.from(text, 'latin1');
const whole = (text: string, closes = false) => read([bytes(text)], closes);
const answer = (headers: readonly string[], body = '', first = 'HTTP/1.1 200 OK') =>
  [first, ...headers, '', body].join('\r\n');

const HELLO = { status: 200, body: 'hello', complete: true };
const LENGTH = 'content-length: 5';
const CHUNKED = 'transfer-encoding: chunked';
const CHUNKS = '5\r\nhello\r\n0\r\n\r\n';

describe('a response', () => {
  test.each([
    ['of a length', answer([LENGTH], 'hello')],
    ['in chunks', answer([CHUNKED], CHUNKS)],
    ['in chunks, whatever the case', answer(['Transfer-Encoding: Chunked'], CHUNKS)],
    ['after the interim answer 100', `HTTP/1.1 100 Continue\r\n\r\n${answer([LENGTH], 'hello')}`],
    [
      'after several interim answers with headers',
      `HTTP/1.1 103 Early Hints\r\nlink: </a>\r\ncontent-length: 9\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n${answer([LENGTH], 'hello')}`,
    ],
    ['without a reason', answer([LENGTH], 'hello', 'HTTP/1.1 200')],
    ['with an empty reason', answer([LENGTH], 'hello', 'HTTP/1.1 200 ')],
    ['that says to keep the connection', answer([LENGTH, 'connection: Keep-Alive'], 'hello')],
    ['whose connection header only sounds like it', answer([LENGTH, 'connection: x-close'], 'hello')],
  ])('%s is complete, and its connection can be used again', (_, text) => {
    expect(whole(text)).toEqual({ ...HELLO, reusable: true });
    expect(whole(text, true)).toEqual({ ...HELLO, reusable: true });
    expect(read(byteByByte(bytes(text)))).toEqual({ ...HELLO, reusable: true });
  });

  test.each([
    ['of HTTP/1.0', answer([LENGTH], 'hello', 'HTTP/1.0 200 OK')],
    ['with `connection: close`', answer([LENGTH, 'connection: close'], 'hello')],
    ['with `Connection: Close`', answer([LENGTH, 'Connection: Close'], 'hello')],
    ['with `CLOSE` in a list', answer([LENGTH, 'connection: upgrade,CLOSE, x'], 'hello')],
    ['with `close` in a second header', answer([LENGTH, 'connection: x', 'connection: close'], 'hello')],
    ['with `close` after a tab', answer([LENGTH, 'connection: x,\tclose'], 'hello')],
    ['in chunks with `connection: close`', answer([CHUNKED, 'connection: close'], CHUNKS)],
    ['with a length and chunks', answer(['content-length: 3', CHUNKED], CHUNKS)],
    ['with surplus bytes after its length', answer([LENGTH], 'hello!')],
    ['with surplus bytes after its chunks', answer([CHUNKED], `${CHUNKS}HTTP/1.1 200 OK`)],
  ])('%s is complete, and its connection is not used again', (_, text) => {
    expect(whole(text)).toEqual({ ...HELLO, reusable: false });
    expect(read(byteByByte(bytes(text)))).toEqual({ ...HELLO, reusable: false });
  });

  test('without a length lasts until the close', () => {
    const text = answer(['content-type: text/plain'], 'hello');
    expect(whole(text)).toEqual({ ...HELLO, complete: false, reusable: false });
    expect(whole(text, true)).toEqual({ ...HELLO, reusable: false });
    expect(read(byteByByte(bytes(text)), true)).toEqual({ ...HELLO, reusable: false });
  });

  test.each([
    ['204', answer([], '', 'HTTP/1.1 204 No Content')],
    ['304', answer([], '', 'HTTP/1.1 304 Not Modified')],
    ['304 that tells the length of what it does not send', answer([LENGTH], '', 'HTTP/1.1 304 Not Modified')],
    ['200 of length 0', answer(['content-length: 0'])],
  ])('%s has no body', (_, text) => {
    expect(whole(text)).toMatchObject({ body: '', complete: true, reusable: true });
    expect(read(byteByByte(bytes(text)))).toMatchObject({ body: '', complete: true, reusable: true });
    expect(whole(`${text}surplus`)).toMatchObject({ body: '', complete: true, reusable: false });
  });

  test('has its status and headers as soon as its head is complete', () => {
    const reader = new ResponseParser();
    const head = answer(
      [
        'Retry-After:7',
        'X-Empty:',
        'x-spaces: \t a  b \t',
        'x-colon: a:b',
        'x-twice: 1',
        'X-Twice: 2',
        LENGTH,
      ],
      '',
      'HTTP/1.1 429 Too Many',
    );
    for (const piece of byteByByte(bytes(head))) {
      expect(reader.head).toBeNull();
      reader.read(Buffer.from(piece), () => expect.unreachable());
    }
    expect(reader.head?.status).toBe(429);
    expect(Object.fromEntries(reader.head?.headers ?? [])).toEqual({
      'retry-after': '7',
      'x-empty': '',
      'x-spaces': 'a  b',
      'x-colon': 'a:b',
      'x-twice': '1, 2',
      'content-length': '5',
    });
    expect(reader.complete).toBe(false);
  });

  test.each([
    ['of a length', answer(['x: y', 'content-length: 24'], 'Hello, 0123456789\r\n\r\nabc')],
    [
      'in chunks',
      `HTTP/1.1 100 Continue\r\n\r\n${answer([CHUNKED], `3\r\nHel\r\n15;a\r\nlo, 0123456789\r\n\r\nabc\r\n0\r\nx: y\r\n\r\n`)}`,
    ],
  ])('%s is the same wherever it is cut', (_, text) => {
    const expected = { status: 200, body: 'Hello, 0123456789\r\n\r\nabc', complete: true, reusable: true };
    for (let cut = 0; cut <= text.length; cut++)
      expect(read([bytes(text.slice(0, cut)), bytes(text.slice(cut))])).toEqual(expected);
    for (let seed = 1; seed <= 100; seed++)
      expect({ seed, ...read(recut(bytes(text), seed)) }).toEqual({ seed, ...expected });
  });
});

describe('an early close is a lost connection:', () => {
  test.each([
    ['before anything', ''],
    ['in the head', 'HTTP/1.1 200 OK\r\ncontent-le'],
    ['after an interim answer', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['before the body', answer([LENGTH])],
    ['in the body', answer([LENGTH], 'hell')],
    ['between chunks', answer([CHUNKED], '5\r\nhello\r\n')],
    ['in the last chunk', answer([CHUNKED], '5\r\nhello\r\n0\r\n')],
  ])('%s', (_, text) => {
    expect(() => whole(text, true)).toThrow(expect.objectContaining({ code: 'CONNECTION_LOST' }));
  });
});

describe('invalid responses are refused:', () => {
  const long = 'x'.repeat(70_000);
  test.each([
    ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n\r\n'],
    ['HTTP/2', answer([LENGTH], 'hello', 'HTTP/2 200')],
    ['HTTP/1.2', answer([LENGTH], 'hello', 'HTTP/1.2 200 OK')],
    ['a status of two digits', answer([LENGTH], 'hello', 'HTTP/1.1 20 OK')],
    ['a status of four digits', answer([LENGTH], 'hello', 'HTTP/1.1 2000 OK')],
    ['a status below 100', answer([LENGTH], 'hello', 'HTTP/1.1 099 OK')],
    ['an empty line at first', `\r\n\r\n${answer([LENGTH], 'hello')}`],
    ['a bare line feed in the first line', answer([], 'hello', 'HTTP/1.1 200 OK\ncontent-length: 5')],
    ['a bare line feed in a header', answer([`x: y\n${LENGTH}`], 'hello')],
    ['another protocol from here on (101)', answer(['upgrade: websocket'], '', 'HTTP/1.1 101 Switching')],
    ['a head that does not end', `HTTP/1.1 200 OK\r\nx: ${long}`],
    ['a head that is too long', answer([`x: ${long}`, LENGTH], 'hello')],
    ['a head that begins with a folded header', answer([' x: a', LENGTH], 'hello')],
    ['a space before the colon', answer(['content-length : 5'], 'hello')],
    ['a header without a colon', answer(['nonsense', LENGTH], 'hello')],
    ['a header without a name', answer([': x', LENGTH], 'hello')],
    ['a name that is none', answer(['a(b): x', LENGTH], 'hello')],
    ['a zero in a value', answer(['x: a\0b', LENGTH], 'hello')],
    ['a coding that is not known', answer(['transfer-encoding: gzip, chunked'], CHUNKS)],
    ['chunks twice', answer([CHUNKED, CHUNKED], CHUNKS)],
    ['a length that is no number', answer(['content-length: five'], 'hello')],
    ['a negative length', answer(['content-length: -5'], 'hello')],
    ['a length with a sign', answer(['content-length: +5'], 'hello')],
    ['an empty length', answer(['content-length:'], 'hello')],
    ['a length beyond all counting', answer(['content-length: 9999999999999999'], 'hello')],
    ['two lengths that differ', answer([LENGTH, 'content-length: 6'], 'hello')],
    ['chunks without a size', answer([CHUNKED], 'hello\r\n')],
  ])('%s', (_, text) => {
    expect(() => whole(text)).toThrow(expect.objectContaining({ code: 'BAD_ANSWER' }));
    // In pieces: the head is parsed again with each of them.
    for (const seed of [1, 2, 3])
      expect(() => read(recut(bytes(text), seed))).toThrow(expect.objectContaining({ code: 'BAD_ANSWER' }));
  });
});
