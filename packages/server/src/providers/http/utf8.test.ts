import { describe, expect, test } from 'bun:test';
import { byteByByte, recut } from '../../testing/providers/suite/recut.ts';
import { Utf8 } from './utf8.ts';

function read(pieces: readonly Uint8Array[]): string {
  const utf8 = new Utf8();
  const text = pieces.map((piece) => utf8.read(Buffer.from(piece), 0, piece.length)).join('');
  return text + utf8.end();
}

const decoded = (bytes: Uint8Array) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);

/** Characters of one to four bytes, and combined ones. */
const TEXT = 'a é € 😀 Grüße, 世界 👩‍👩‍👧 ñ\u0000\u007f\u0080\u07ff\u0800\uffff\u{10ffff}z';

describe('text', () => {
  test('is the same wherever it is split in three', () => {
    const bytes = Buffer.from(TEXT);
    for (let first = 0; first <= bytes.length; first++)
      for (let second = first; second <= bytes.length; second++)
        expect(read([bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)])).toBe(
          TEXT,
        );
  });

  test('is the same byte by byte', () => {
    expect(read(byteByByte(Buffer.from(TEXT)))).toBe(TEXT);
  });

  test('is read from its range of the bytes', () => {
    const utf8 = new Utf8();
    const bytes = Buffer.from('<é>');
    expect(utf8.read(bytes, 1, 2) + utf8.read(bytes, 2, 3) + utf8.read(bytes, 3, 4)).toBe('é>');
  });

  test.each(['\ufeffhello', '\ufeffé', 'a\ufeffb', '\ufeff'])('keeps the byte order mark of %j', (text) => {
    expect(read([Buffer.from(text)])).toBe(text);
    expect(read(byteByByte(Buffer.from(text)))).toBe(text);
  });

  test.each([
    ['two bytes', Buffer.from('é').subarray(0, 1)],
    ['three bytes', Buffer.from('€').subarray(0, 2)],
    ['four bytes', Buffer.from('😀').subarray(0, 3)],
  ])('whose last character, of %s, is unfinished ends with a mark for it', (_, begun) => {
    const bytes = Buffer.concat([Buffer.from('end '), begun]);
    expect(read([bytes])).toBe('end \ufffd');
    expect(read(byteByByte(bytes))).toBe('end \ufffd');
  });

  test('that is complete has no rest', () => {
    const utf8 = new Utf8();
    utf8.read(Buffer.from('é'), 0, 2);
    expect(utf8.end()).toBe('');
  });

  test('keeps the beginning of a character across an empty piece', () => {
    const [first = 0, second = 0] = Buffer.from('é');
    expect(read([Buffer.of(first), Buffer.of(), Buffer.of(second, 0x21)])).toBe('é!');
    expect(read([Buffer.of(first), Buffer.of()])).toBe('\ufffd');
  });

  test('that is not UTF-8 is marked the same way wherever it is split', () => {
    const wrong = Buffer.from([
      0x61, 0xff, 0xc3, 0x28, 0xe2, 0x82, 0x41, 0xf0, 0x9f, 0x42, 0x80, 0xed, 0xa0, 0x80, 0x43,
    ]);
    const bytes = Buffer.concat([wrong, Buffer.from(TEXT), wrong, wrong]);
    expect(read([bytes])).toBe(decoded(bytes));
    expect(read(byteByByte(bytes))).toBe(decoded(bytes));
    for (let seed = 1; seed <= 200; seed++)
      expect([seed, read(recut(bytes, seed))]).toEqual([seed, decoded(bytes)]);
  });
});
