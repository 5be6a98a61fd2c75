import { describe, expect, test } from 'bun:test';
import { byteByByte, recut } from '../../testing/providers/suite/recut.ts';
import { ChunkedDecoder } from './chunked-decoder.ts';

/** The data of the pieces, and the bytes after the end. */
function read(pieces: readonly Uint8Array[]) {
  const chunks = new ChunkedDecoder();
  let data = '';
  let surplus = 0;
  for (const bytes of pieces) {
    const end = chunks.read(Buffer.from(bytes), 0, (from, start, to) => {
      expect(to).toBeGreaterThan(start);
      data += from.toString('latin1', start, to);
    });
    surplus += bytes.length - end;
  }
  return { data, complete: chunks.complete, surplus };
}

const whole = (text: string) => read([Buffer.from(text, 'latin1')]);
const COMPLETE = { complete: true, surplus: 0 };

describe('a chunked body', () => {
  test.each([
    ['one chunk', '5\r\nhello\r\n0\r\n\r\n', 'hello'],
    ['none', '0\r\n\r\n', ''],
    ['several', '3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n', 'hello'],
    ['a size in lower case', `1a\r\n${'x'.repeat(26)}\r\n0\r\n\r\n`, 'x'.repeat(26)],
    ['a size in upper case', `1A\r\n${'x'.repeat(26)}\r\n0\r\n\r\n`, 'x'.repeat(26)],
    ['a size with zeros before it', '00000005\r\nhello\r\n00\r\n\r\n', 'hello'],
    ['an extension', '5;name="a;b"\r\nhello\r\n0;last\r\n\r\n', 'hello'],
    ['a size with spaces behind it', '5  \r\nhello\r\n0\t\r\n\r\n', 'hello'],
    ['trailers', '5\r\nhello\r\n0\r\nDigest: abc\r\nX: y\r\n\r\n', 'hello'],
    ['line ends and sizes in the data', '9\r\n0\r\n\r\n5\r\nx\r\n0\r\n\r\n', '0\r\n\r\n5\r\nx'],
  ])('may have %s', (_, text, data) => {
    expect(whole(text)).toEqual({ data, ...COMPLETE });
    expect(read(byteByByte(Buffer.from(text)))).toEqual({ data, ...COMPLETE });
  });

  test('is the same wherever it is split', () => {
    const parts = ['Hello', 'Grüße, 世界 👩‍👩‍👧', '\r\n0\r\n\r\n', 'x'.repeat(300)].map((part) =>
      Buffer.from(part),
    );
    const text = parts
      .map((part) => `${part.length.toString(16)};a=b\r\n${part.toString('latin1')}\r\n`)
      .join('');
    const bytes = Buffer.from(`${text}0\r\nDigest: abc\r\n\r\n`, 'latin1');
    const data = Buffer.concat(parts).toString('latin1');
    for (let seed = 1; seed <= 200; seed++)
      expect({ seed, ...read(recut(bytes, seed)) }).toEqual({ seed, data, ...COMPLETE });
  });

  test('ends with its last chunk, whatever follows', () => {
    expect(whole('5\r\nhello\r\n0\r\n\r\nHTTP/1.1 200 OK')).toEqual({
      data: 'hello',
      complete: true,
      surplus: 'HTTP/1.1 200 OK'.length,
    });
  });

  test('is not complete before the final line end', () => {
    const text = '5\r\nhello\r\n0\r\nDigest: abc\r\n\r\n';
    for (let end = 0; end < text.length; end++) expect(whole(text.slice(0, end)).complete).toBe(false);
  });

  test('is read from its first byte on', () => {
    const chunks = new ChunkedDecoder();
    const bytes = Buffer.from('head5\r\nhello\r\n0\r\n\r\n');
    const seen: string[] = [];
    const end = chunks.read(bytes, 4, (from, start, to) => seen.push(from.toString('latin1', start, to)));
    expect([end, ...seen]).toEqual([bytes.length, 'hello']);
  });

  test('can have a short extension in each of very many chunks', () => {
    const { data, complete } = whole(`${'1;padding=yes\r\nx\r\n'.repeat(20_000)}0\r\n\r\n`);
    expect([data.length, complete]).toEqual([20_000, true]);
  });
});

describe('malformed chunks are refused:', () => {
  test.each([
    ['no size', '\r\nhello\r\n'],
    ['an extension without a size', ';a=b\r\n'],
    ['a space before the size', ' 5\r\nhello\r\n'],
    ['a size of nine digits', '000000005\r\nhello\r\n'],
    ['a negative size', '-5\r\nhello\r\n'],
    ['a size with a sign', '+5\r\nhello\r\n'],
    ['a size that is no number', '5g\r\nhello\r\n'],
    ['a size marked as hexadecimal', '0x5\r\nhello\r\n'],
    ['a bare line feed after the size', '5\nhello\r\n'],
    ['a bare line feed after an extension', '5;a=b\nhello\r\n0\r\n\r\n'],
    ['a bare carriage return after the size', '5\rhello\r\n'],
    ['data that is longer than its size', '4\r\nhello\r\n'],
    ['a bare line feed after the data', '5\r\nhello\n0\r\n\r\n'],
    ['a bare carriage return after the data', '5\r\nhello\r0\r\n\r\n'],
    ['a bare carriage return at the end', '0\r\n\rx'],
    ['an endless extension', `5;${'x'.repeat(20_000)}`],
    ['an endless trailer', `0\r\nDigest: ${'x'.repeat(20_000)}`],
    ['endlessly many trailers', `0\r\n${'A: b\r\n'.repeat(5_000)}`],
  ])('%s', (_, text) => {
    expect(() => whole(text)).toThrow(expect.objectContaining({ code: 'BAD_ANSWER' }));
    expect(() => read(byteByByte(Buffer.from(text)))).toThrow(
      expect.objectContaining({ code: 'BAD_ANSWER' }),
    );
  });
});
