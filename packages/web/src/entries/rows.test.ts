import { describe, expect, test } from 'bun:test';
import type { DurableEvent } from '@parlance/protocol';
import { alignedRows, Bounded, exportLines, type NumberedFrame, type Row } from './rows.ts';

const event = (seq: number, at: number, type = 'text.ended'): DurableEvent =>
  ({
    session: 's',
    id: `f${seq}`,
    seq,
    at,
    type,
    turn: 't',
    block: 'b',
    text: `event ${seq}`,
  }) as DurableEvent;

let number = 0;
const frame = (at: number, direction: 'in' | 'out', over: Partial<NumberedFrame> = {}): NumberedFrame => ({
  type: 'frame',
  number: ++number,
  at,
  dialect: 'agentloop',
  connection: 'c1' as NumberedFrame['connection'],
  direction,
  text: `{"type":"loading_state","payload":{"loading":true}}`,
  ...over,
});

const drawn = (rows: readonly Row[]): string[] =>
  rows.map(({ event, frame }) => `${event?.at ?? '-'}|${frame ? `${frame.direction}${frame.at}` : '-'}`);

describe('rows', () => {
  test('puts an event and a frame side by side only if they are adjacent', () => {
    const rows = alignedRows(
      [event(1, 10), event(2, 10), event(3, 140)],
      [frame(5, 'in'), frame(12, 'out'), frame(13, 'out')],
    );
    expect(drawn(rows)).toEqual(['10|in5', '10|out12', '-|out13', '140|-']);
  });

  test('orders one millisecond as inbound frame, event, outbound frame', () => {
    expect(drawn(alignedRows([event(1, 10), event(2, 10)], [frame(10, 'in'), frame(10, 'out')]))).toEqual([
      '10|in10',
      '10|out10',
    ]);
  });

  test('keeps each column in time order and loses nothing', () => {
    const times = Array.from({ length: 400 }, (_, at) => (at * 7919) % 97).sort((a, b) => a - b);
    const events = times.filter((_, at) => at % 3 === 0).map((at, index) => event(index + 1, at));
    const frames = times.filter((_, at) => at % 3 !== 0).map((at) => frame(at, at % 2 === 0 ? 'in' : 'out'));
    const rows = alignedRows(events, frames);
    expect(rows.flatMap(({ event }) => event ?? [])).toEqual(events);
    expect(rows.flatMap(({ frame }) => frame ?? [])).toEqual(frames);
    expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length);
  });

  test('a row keeps its key when its other cell is filled', () => {
    const first = event(1, 10);
    const [before] = alignedRows([first], []);
    const [after] = alignedRows([first], [frame(11, 'out')]);
    expect(after?.frame).toBeDefined();
    expect(after?.key).toBe(before?.key as string);
  });

  test('exports JSON lines in time order, each exactly as received', () => {
    const [one, came, went] = [event(1, 10), frame(10, 'in'), frame(11, 'out')];
    const lines = exportLines(alignedRows([one], [came, went]))
      .trimEnd()
      .split('\n');
    expect(lines.map((line) => Object.keys(JSON.parse(line))[0])).toEqual(['frame', 'event', 'frame']);
    expect(JSON.parse(lines[1] ?? '')).toEqual({ event: one });
    const { at, dialect, connection, direction, text } = came;
    expect(JSON.parse(lines[0] ?? '')).toEqual({ frame: { at, dialect, connection, direction, text } });
  });
});

const bounded = (maxItems = 3, maxSize = 100) =>
  new Bounded<string>({ maxItems: maxItems, maxSize: maxSize, sizeOf: ({ length }) => length });

describe('a bounded buffer', () => {
  test('keeps the latest items and counts dropped ones', () => {
    const buffer = bounded();
    buffer.add(['a', 'b']);
    buffer.add(['c', 'd', 'e']);
    expect(buffer.items).toEqual(['c', 'd', 'e']);
    expect(buffer.dropped).toBe(2);
  });

  test('limits the total size; keeps the latest item even if it is too large', () => {
    const buffer = bounded(10, 5);
    buffer.add(['aaa', 'bbb']);
    expect(buffer.items).toEqual(['bbb']);
    buffer.add(['c'.repeat(50)]);
    expect(buffer.items).toEqual(['c'.repeat(50)]);
    buffer.add(['d']);
    expect(buffer.items).toEqual(['d']);
    buffer.add(['e', 'f', 'g', 'h']);
    expect(buffer.items).toHaveLength(5);
  });

  test('while held, keeps the shown items and buffers new ones up to the limit', () => {
    const buffer = bounded();
    buffer.add(['a']);
    const shown = buffer.items;
    buffer.hold();
    buffer.add(['b', 'c']);
    expect(buffer.items).toBe(shown);
    expect([buffer.waiting, buffer.dropped]).toEqual([2, 0]);
    buffer.add(['d', 'e']);
    expect([buffer.waiting, buffer.dropped]).toEqual([3, 1]);
    buffer.release();
    expect(buffer.items).toEqual(['c', 'd', 'e']);
    expect([buffer.waiting, buffer.dropped]).toEqual([0, 2]);
    buffer.add(['f']);
    expect(buffer.items).toEqual(['d', 'e', 'f']);
  });

  test('clear resets the counts and keeps the hold', () => {
    const buffer = bounded();
    buffer.add(['a', 'b', 'c', 'd']);
    buffer.hold();
    buffer.add(['e']);
    buffer.clear();
    expect([buffer.items.length, buffer.waiting, buffer.dropped]).toEqual([0, 0, 0]);
    buffer.add(['f']);
    expect([buffer.items.length, buffer.waiting]).toEqual([0, 1]);
  });

  test('returns the same array until the items change', () => {
    const buffer = bounded();
    buffer.add(['a']);
    const before = buffer.items;
    buffer.add([]);
    buffer.release();
    expect(buffer.items).toBe(before);
  });
});
