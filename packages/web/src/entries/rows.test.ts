import { describe, expect, test } from 'bun:test';
import type { DurableEvent } from '@parlance/protocol';
import { alignedRows, exportLines, type NumberedFrame, type Row } from './rows.ts';

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
