import { describe, expect, test } from 'bun:test';
import { EVENTS, type EventType, type Fact, isFact, type Live, parseFact } from './events.ts';

const HEAD = { session: 's', id: 'f1', at: 1, seq: 1 };
const text = { ...HEAD, type: 'text.ended', turn: 't', block: 'b', text: 'Hello' };

describe('a fact read from disk', () => {
  test('comes back as it was written', () => {
    expect(parseFact(JSON.parse(JSON.stringify(text)))).toEqual(text as Fact);
  });

  test('of an unknown kind is refused, and so is what only looks like one', () => {
    for (const type of ['text.finished', 'constructor', '__proto__', 'toString', '', 7, null, undefined])
      expect(() => parseFact({ ...text, type })).toThrow('not a fact');
    for (const value of [null, undefined, 'text.ended', 7, []]) expect(() => parseFact(value)).toThrow();
  });

  test('is refused where it is a live event: those are never on disk', () => {
    expect(() => parseFact({ ...text, type: 'text.delta' })).toThrow('not a fact: text.delta');
  });

  test('is refused with any part of its head missing or wrong', () => {
    for (const broken of [{ seq: 0 }, { seq: 1.5 }, { session: '' }, { at: 'now' }, { id: undefined }])
      expect(() => parseFact({ ...text, ...broken })).toThrow();
  });

  test('is refused with a field missing or of another type', () => {
    expect(() => parseFact({ ...text, text: undefined })).toThrow();
    expect(() => parseFact({ ...text, text: ['Hello'] })).toThrow();
  });

  test('keeps text that is not well formed, as JSON carries it', () => {
    const odd = { ...text, text: 'a\0b\ud800' };
    expect(parseFact(JSON.parse(JSON.stringify(odd)))).toEqual(odd as Fact);
  });
});

test('every event is either a fact or live, and named as a past fact or a progress', () => {
  const live = Object.entries(EVENTS).flatMap(([type, { durable }]) => (durable ? [] : [type]));
  expect(live.sort()).toEqual(['call.progress', 'reasoning.delta', 'session.erased', 'text.delta']);
  const facts = (Object.keys(EVENTS) as EventType[]).filter((type) => EVENTS[type].durable);
  for (const type of facts) expect(type).toMatch(/^[a-z]+\.([a-z]+ed|rewound)$/);
});

test('a number makes an event a fact', () => {
  expect(isFact(text as Fact)).toBe(true);
  const { seq: _seq, ...delta } = { ...text, type: 'text.delta' };
  expect(isFact(delta as Live)).toBe(false);
});
