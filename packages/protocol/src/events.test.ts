import { describe, expect, test } from 'bun:test';
import {
  type DurableEvent,
  type EphemeralEvent,
  EVENTS,
  type EventType,
  isDurable,
  isTurnEvent,
  parseDurableEvent,
} from './events.ts';

const HEAD = { session: 's', id: 'f1', at: 1, seq: 1 };
const text = { ...HEAD, type: 'text.ended', turn: 't', block: 'b', text: 'Hello' };

describe('a stored event', () => {
  test('round-trips', () => {
    expect(parseDurableEvent(JSON.parse(JSON.stringify(text)))).toEqual(text as DurableEvent);
  });

  test('of an unknown type is refused', () => {
    for (const type of ['text.finished', 'constructor', '__proto__', 'toString', '', 7, null, undefined])
      expect(() => parseDurableEvent({ ...text, type })).toThrow('not an event');
    for (const value of [null, undefined, 'text.ended', 7, []])
      expect(() => parseDurableEvent(value)).toThrow();
  });

  test('is refused if it is ephemeral', () => {
    expect(() => parseDurableEvent({ ...text, type: 'text.delta' })).toThrow('not an event: text.delta');
  });

  test('is refused if a field of its head is missing or wrong', () => {
    for (const broken of [{ seq: 0 }, { seq: 1.5 }, { session: '' }, { at: 'now' }, { id: undefined }])
      expect(() => parseDurableEvent({ ...text, ...broken })).toThrow();
  });

  test('is refused if a field is missing or has another type', () => {
    expect(() => parseDurableEvent({ ...text, text: undefined })).toThrow();
    expect(() => parseDurableEvent({ ...text, text: ['Hello'] })).toThrow();
  });

  test('preserves ill-formed Unicode as JSON does', () => {
    const odd = { ...text, text: 'a\0b\ud800' };
    expect(parseDurableEvent(JSON.parse(JSON.stringify(odd)))).toEqual(odd as DurableEvent);
  });
});

test('every event is durable or ephemeral, and named in the past tense or as progress', () => {
  const live = Object.entries(EVENTS).flatMap(([type, { durable }]) => (durable ? [] : [type]));
  expect(live.sort()).toEqual([
    'call.arguments.delta',
    'call.progress',
    'reasoning.delta',
    'session.erased',
    'text.delta',
  ]);
  const events = (Object.keys(EVENTS) as EventType[]).filter((type) => EVENTS[type].durable);
  for (const type of events) expect(type).toMatch(/^[a-z]+\.([a-z]+ed|rewound)$/);
});

test('a seq makes an event durable', () => {
  expect(isDurable(text as DurableEvent)).toBe(true);
  const { seq: _seq, ...delta } = { ...text, type: 'text.delta' };
  expect(isDurable(delta as EphemeralEvent)).toBe(false);
});

test('every event of a turn is a turn event', () => {
  const turnEvents = (Object.keys(EVENTS) as EventType[]).filter((type) => isTurnEvent({ type }));
  for (const [type, { body }] of Object.entries(EVENTS))
    if ('turn' in body.shape) expect(turnEvents).toContain(type as EventType);
  expect(turnEvents).toContain('input.accepted');
  expect(turnEvents.filter((type) => /^(session|history|grant|context)\./.test(type))).toEqual([]);
});
