import { describe, expect, test } from 'bun:test';
import {
  type DurableEvent,
  type EphemeralEvent,
  EVENTS,
  type EventType,
  isDurable,
  parseDurableEvent,
} from './events.ts';

const HEAD = { session: 's', id: 'f1', at: 1, seq: 1 };
const text = { ...HEAD, type: 'text.ended', turn: 't', block: 'b', text: 'Hello' };

describe('an event read from disk', () => {
  test('comes back as it was written', () => {
    expect(parseDurableEvent(JSON.parse(JSON.stringify(text)))).toEqual(text as DurableEvent);
  });

  test('of an unknown kind is refused, and so is what only looks like one', () => {
    for (const type of ['text.finished', 'constructor', '__proto__', 'toString', '', 7, null, undefined])
      expect(() => parseDurableEvent({ ...text, type })).toThrow('not an event');
    for (const value of [null, undefined, 'text.ended', 7, []])
      expect(() => parseDurableEvent(value)).toThrow();
  });

  test('is refused where it is a ephemeral event: those are never on disk', () => {
    expect(() => parseDurableEvent({ ...text, type: 'text.delta' })).toThrow('not an event: text.delta');
  });

  test('is refused with any part of its head missing or wrong', () => {
    for (const broken of [{ seq: 0 }, { seq: 1.5 }, { session: '' }, { at: 'now' }, { id: undefined }])
      expect(() => parseDurableEvent({ ...text, ...broken })).toThrow();
  });

  test('is refused with a field missing or of another type', () => {
    expect(() => parseDurableEvent({ ...text, text: undefined })).toThrow();
    expect(() => parseDurableEvent({ ...text, text: ['Hello'] })).toThrow();
  });

  test('keeps text that is not well formed, as JSON carries it', () => {
    const odd = { ...text, text: 'a\0b\ud800' };
    expect(parseDurableEvent(JSON.parse(JSON.stringify(odd)))).toEqual(odd as DurableEvent);
  });
});

test('every event is either an event or live, and named as a past event or a progress', () => {
  const live = Object.entries(EVENTS).flatMap(([type, { durable }]) => (durable ? [] : [type]));
  expect(live.sort()).toEqual(['call.progress', 'reasoning.delta', 'session.erased', 'text.delta']);
  const events = (Object.keys(EVENTS) as EventType[]).filter((type) => EVENTS[type].durable);
  for (const type of events) expect(type).toMatch(/^[a-z]+\.([a-z]+ed|rewound)$/);
});

test('a number makes an event an event', () => {
  expect(isDurable(text as DurableEvent)).toBe(true);
  const { seq: _seq, ...delta } = { ...text, type: 'text.delta' };
  expect(isDurable(delta as EphemeralEvent)).toBe(false);
});
