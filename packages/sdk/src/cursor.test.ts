import { describe, expect, test } from 'bun:test';
import type { DurableEvent, SessionEvent, SessionId } from '@parlance/protocol';
import { readTranscript } from '../../server/src/testing/transcripts.ts';
import { Cursor, type Snapshot } from './cursor.ts';

const events = readTranscript('plain-answer');
const SESSION = events[0]?.session as SessionId;
const frame = (event: SessionEvent | Snapshot) => ({ event: event.type, data: JSON.stringify(event) });
const cursor = (seq = 0) => new Cursor(SESSION, seq, () => 7);
const event = (seq: number) => events.find((event) => 'seq' in event && event.seq === seq) as DurableEvent;
const deltas = events.filter((event) => event.type === 'text.delta');
const [first] = deltas as [Extract<SessionEvent, { type: 'text.delta' }>];
const { turn, block } = first;
const ended = events.find((event) => event.type === 'text.ended') as DurableEvent<'text.ended'>;

const snapshot = (seq: number, text?: string): Snapshot => ({
  type: 'snapshot',
  seq,
  turn,
  open: text === undefined ? null : { kind: 'text', turn, block, text },
  approval: null,
});

describe('a cursor', () => {
  test('passes events through in order', () => {
    const at = cursor();
    expect(events.flatMap((event) => at.take(frame(event)))).toEqual(events);
    expect(at.seq).toBe(event(events.length - deltas.length).seq);
  });

  test('skips an event that was yielded before', () => {
    expect(cursor(2).take(frame(event(2)))).toEqual([]);
  });

  test('throws on a gap before an event or a snapshot', () => {
    expect(() => cursor(1).take(frame(event(3)))).toThrow('event 3 came after event 1');
    expect(() => cursor(1).take(frame(snapshot(2)))).toThrow('a snapshot of 2 came after event 1');
  });

  test('throws if the data is not JSON', () => {
    expect(() => cursor().take({ event: 'text.delta', data: '{"type":' })).toThrow('not JSON');
  });

  test('yields the missed part of an open block as a delta before the snapshot', () => {
    const at = cursor(3);
    at.take(frame(first));
    const now = snapshot(3, 'Hello there');
    const missed = {
      type: 'text.delta',
      turn,
      block,
      text: 'there',
      session: SESSION,
      id: `${block}-11`,
      at: 7,
    };
    expect(at.take(frame(now))).toEqual([missed as never, now]);
    expect(at.take(frame(now))).toEqual([now]);
    expect(at.take(frame(ended))).toMatchObject([{ type: 'text.delta', text: '.' }, { type: 'text.ended' }]);
  });

  test('repeats nothing if it reconnects to a node that is behind', () => {
    const at = cursor(3);
    const delta = (text: string) =>
      at.take(frame({ ...first, text })).map((event) => 'text' in event && event.text);
    expect([...delta('Hello'), ...delta(' there')]).toEqual(['Hello', ' there']);
    expect(at.take(frame(snapshot(3, 'Hello')))).toMatchObject([{ type: 'snapshot' }]);
    expect([...delta(' th'), ...delta('ere, you'), ...delta(' two')]).toEqual([', you', ' two']);
  });

  test('yields the whole text of a new open block', () => {
    expect(cursor(3).take(frame(snapshot(3, 'Hello')))).toMatchObject([
      { text: 'Hello' },
      { type: 'snapshot' },
    ]);
  });

  test('yields the missed part of an ended block before its event', () => {
    const at = cursor(3);
    at.take(frame(first));
    expect(at.take(frame(ended))).toMatchObject([
      { type: 'text.delta', text: 'there.' },
      { type: 'text.ended' },
    ]);
  });

  test('yields the whole text of a missed block before its event', () => {
    const [whole, event] = cursor(3).take(frame(ended));
    expect([whole, event]).toMatchObject([
      { type: 'text.delta', text: 'Hello there.' },
      { type: 'text.ended' },
    ]);
    const silent = { ...ended, text: '' };
    expect(cursor(3).take(frame(silent))).toEqual([silent]);
  });

  test('drops an open block that the server no longer has', () => {
    const at = cursor(3);
    at.take(frame(first));
    at.take(frame(snapshot(3)));
    expect(at.take(frame(ended))).toMatchObject([{ text: 'Hello there.' }, { type: 'text.ended' }]);
  });

  test('starts over after a reset', () => {
    const at = cursor(99);
    expect(at.take({ event: 'reset', data: '{"after":0}' })).toEqual([{ type: 'reset' }]);
    expect(at.take(frame(event(1)))).toEqual([event(1)]);
  });

  test('starts over after an erase: a new session of the same name starts at 1', () => {
    const at = cursor(7);
    const erased = { type: 'session.erased', by: 'ada', session: SESSION, id: 'x', at: 1 } as const;
    expect(at.take(frame(erased))).toEqual([erased]);
    expect(at.take(frame(event(1)))).toEqual([event(1)]);
  });
});
