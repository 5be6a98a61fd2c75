import { describe, expect, test } from 'bun:test';
import { Utf8 } from './http/utf8.ts';
import { ServerSentEvents } from './server-sent-events.ts';
import { byteByByte, recut } from './suite/recut.ts';
import type { VendorEvent } from './wire.ts';

function read(pieces: readonly Uint8Array[]): VendorEvent[] {
  const text = new Utf8();
  const events = new ServerSentEvents();
  const all: VendorEvent[] = [];
  for (const piece of pieces) all.push(...events.read(text.read(Buffer.from(piece), 0, piece.length)));
  all.push(...events.read(text.end()), ...events.end());
  return all;
}

const bytes = (text: string) => new TextEncoder().encode(text);

const LINES =
  ': hello\n\nevent: greeting\ndata: Grüße, 世界 👩‍👩‍👧\n\nid: 7\ndata: {"two":\ndata: "lines"}\n\nretry: 10\nnonsense\n\ndata: last\n\n';
const EVENTS: VendorEvent[] = [
  { event: 'greeting', data: 'Grüße, 世界 👩‍👩‍👧' },
  { event: undefined, data: '{"two":\n"lines"}' },
  { event: undefined, data: 'last' },
];

describe('server-sent events', () => {
  for (const [name, text] of [
    ['line feeds', LINES],
    ['carriage returns and line feeds', LINES.replaceAll('\n', '\r\n')],
    ['carriage returns', LINES.replaceAll('\n', '\r')],
    ['all of them', LINES.replaceAll('\n\n', '\r\n\r').replace('\r', '\n')],
    ['a byte order mark', `\uFEFF${LINES}`],
  ] as const) {
    test(`with ${name} are the same, wherever they are cut`, () => {
      expect(read([bytes(text)])).toEqual(EVENTS);
      expect(read(byteByByte(bytes(text)))).toEqual(EVENTS);
      for (let seed = 0; seed < 200; seed++) expect(read(recut(bytes(text), seed))).toEqual(EVENTS);
    });
  }

  test('are read to the end where the last one was not ended', () => {
    expect(read([bytes('data: one\n\ndata: two')])).toEqual([
      { event: undefined, data: 'one' },
      { event: undefined, data: 'two' },
    ]);
  });

  test('have a name and data, of which the first space of a value is not a part', () => {
    expect(
      read([bytes('data:one\ndata:  two \ndata\nevent:named\n\nevent: nothing\n\ndata: three\n\n')]),
    ).toEqual([
      { event: 'named', data: 'one\n two \n' },
      { event: undefined, data: 'three' },
    ]);
  });

  test('that come together are told together, and none of one is kept for the next', () => {
    const events = new ServerSentEvents();
    expect(events.read('event: a\ndata: 1\n\ndata: 2\n\ndata: 3')).toEqual([
      { event: 'a', data: '1' },
      { event: undefined, data: '2' },
    ]);
    expect(events.read('')).toEqual([]);
    expect(events.read('\n\n')).toEqual([{ event: undefined, data: '3' }]);
  });

  test('of many lines are given up as well, and short ones are read for ever', () => {
    const lines = `data: ${'x'.repeat(1023)}\n`.repeat(1024);
    const events = new ServerSentEvents();
    for (let count = 0; count < 100; count++) {
      expect(events.read(lines)).toEqual([]);
      expect(events.read('\n')).toHaveLength(1);
    }
    expect(() => {
      for (let count = 0; count < 40; count++) events.read(lines);
    }).toThrow('too long');
  });

  test('that grow without end are given up', () => {
    const megabyte = bytes('x'.repeat(1024 * 1024));
    const endless = [bytes('data: '), ...Array<Uint8Array>(40).fill(megabyte)];
    expect(() => read(endless)).toThrow();
  });
});
