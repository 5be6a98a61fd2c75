import { describe, expect, test } from 'bun:test';
import { type ServerSentEvent, ServerSentEventParser } from './server-sent-events.ts';

const MAX_LENGTH = 32 * 1024 * 1024;

function read(pieces: readonly string[]): ServerSentEvent[] {
  const parser = new ServerSentEventParser(MAX_LENGTH);
  return [...pieces.flatMap((piece) => parser.read(piece)), ...parser.end()];
}

/** All ways to cut a text into pieces of one size. */
const cuts = (text: string): string[][] =>
  Array.from({ length: text.length }, (_, size) => text.match(new RegExp(`[^]{1,${size + 1}}`, 'g')) ?? []);

const LINES =
  ': hello\n\nevent: greeting\ndata: Grüße, 世界 👩‍👩‍👧\n\nid: 7\ndata: {"two":\ndata: "lines"}\n\nretry: 10\nnonsense\n\ndata: last\n\n';
const EVENTS: ServerSentEvent[] = [
  { event: 'greeting', data: 'Grüße, 世界 👩‍👩‍👧' },
  { event: undefined, data: '{"two":\n"lines"}', id: '7' },
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
    test(`with ${name} are parsed the same, however they are split`, () => {
      for (const pieces of cuts(text)) expect(read(pieces)).toEqual(EVENTS);
    });
  }

  test('are parsed to the end if the last one is not terminated', () => {
    expect(read(['data: one\n\ndata: two'])).toEqual([
      { event: undefined, data: 'one' },
      { event: undefined, data: 'two' },
    ]);
  });

  test('have a name and data, without the first space of a value', () => {
    expect(read(['data:one\ndata:  two \ndata\nevent:named\n\nevent: nothing\n\ndata: three\n\n'])).toEqual([
      { event: 'named', data: 'one\n two \n' },
      { event: undefined, data: 'three' },
    ]);
  });

  test('that arrive together are returned together and share no fields', () => {
    const events = new ServerSentEventParser(MAX_LENGTH);
    expect(events.read('event: a\ndata: 1\n\ndata: 2\n\ndata: 3')).toEqual([
      { event: 'a', data: '1' },
      { event: undefined, data: '2' },
    ]);
    expect(events.read('')).toEqual([]);
    expect(events.read('\n\n')).toEqual([{ event: undefined, data: '3' }]);
  });

  test('of many lines have a maximum size, and any number of short ones is read', () => {
    const lines = `data: ${'x'.repeat(1023)}\n`.repeat(1024);
    const events = new ServerSentEventParser(MAX_LENGTH);
    for (let count = 0; count < 100; count++) {
      expect(events.read(lines)).toEqual([]);
      expect(events.read('\n')).toHaveLength(1);
    }
    expect(() => {
      for (let count = 0; count < 40; count++) events.read(lines);
    }).toThrow('too long');
  });

  test.each([': still there\n', '\n', 'event: ping\n\n', 'id: 1\r\n'])(
    'may have a limited amount of %j between them, and any amount in all',
    (sign) => {
      const signs = sign.repeat((1024 * 1024) / sign.length);
      const events = new ServerSentEventParser(MAX_LENGTH);
      for (let count = 0; count < 100; count++) {
        expect(events.read(signs)).toEqual([]);
        if (count % 10 === 0) expect(events.read('data: 1\n\n')).toHaveLength(1);
      }
      expect(() => {
        for (let count = 0; count < 80; count++) events.read(signs);
      }).toThrow('no events');
    },
  );

  test('may have unknown fields between them, but not thousands', () => {
    const events = new ServerSentEventParser(MAX_LENGTH);
    expect(events.read(`${'field: 1\n'.repeat(500)}data: 1\n\n`)).toHaveLength(1);
    expect(() => events.read(`${'field\n'.repeat(600)}data: 1\n\n`)).toThrow('unknown fields');
  });

  test('have a maximum size', () => {
    const megabyte = 'x'.repeat(1024 * 1024);
    const endless = ['data: ', ...Array<string>(40).fill(megabyte)];
    expect(() => read(endless)).toThrow();
  });
});
