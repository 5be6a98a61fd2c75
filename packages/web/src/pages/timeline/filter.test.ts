import { describe, expect, test } from 'bun:test';
import type { DurableEvent } from '@parlance/protocol';
import type { NumberedFrame } from '../../entries/rows.ts';
import { choicesOf, EVERYTHING, shownEvents, shownFrames } from './filter.ts';

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

describe('a filter', () => {
  const events = [event(1, 1), event(2, 2, 'turn.resumed')];
  const frames = [
    frame(1, 'in'),
    frame(2, 'out', { dialect: 'broadcast', text: '{"type":"agent_message","message":"Grüße"}' }),
  ];

  test('an empty filter returns the same arrays', () => {
    expect(shownEvents(events, EVERYTHING)).toBe(events);
    expect(shownFrames(frames, EVERYTHING)).toBe(frames);
  });

  test('narrows by each of its fields', () => {
    const count = (part: Partial<typeof EVERYTHING>) => [
      shownEvents(events, { ...EVERYTHING, ...part }).length,
      shownFrames(frames, { ...EVERYTHING, ...part }).length,
    ];
    expect(count({ eventType: 'turn.resumed' })).toEqual([1, 2]);
    expect(count({ dialect: 'broadcast' })).toEqual([2, 1]);
    expect(count({ connection: 'c2' })).toEqual([2, 0]);
    expect(count({ direction: 'in' })).toEqual([2, 1]);
    expect(count({ frameType: 'agent_message' })).toEqual([2, 1]);
    expect(count({ text: ' GRÜSSE' })).toEqual([0, 0]);
    expect(count({ text: ' grüße ' })).toEqual([0, 1]);
    expect(count({ text: 'EVENT 2' })).toEqual([1, 0]);
  });

  test('offers the values seen and the selected one', () => {
    const choices = choicesOf(events, frames, { ...EVERYTHING, dialect: 'broadcast', connection: 'c9' });
    expect(choices).toEqual({
      eventTypes: ['text.ended', 'turn.resumed'],
      dialects: ['agentloop', 'broadcast'],
      connections: ['c1', 'c9'],
      frameTypes: ['agent_message'],
    });
  });
});
