import { describe, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { isDurable } from '@parlance/protocol';
import { readTranscript, transcriptPath } from '../../server/src/testing/transcripts.ts';
import { EMPTY, fold, foldAll, type SessionView } from './view.ts';

const NAMES = readdirSync(dirname(transcriptPath('x'))).map((file) => file.replace('.jsonl', ''));
const viewOf = (name: string): SessionView => foldAll(EMPTY, readTranscript(name));

/** Events that discard a message or output of a step. */
const VOIDING = new Set<string>(['step.restarted', 'turn.resumed', 'session.rewound', 'input.cancelled']);

/** Freezes every object of the view, so that a fold that mutates its input throws. */
function frozen<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) frozen(inner);
  }
  return value;
}

describe('every transcript', () => {
  test('exists', () => expect(NAMES.length).toBeGreaterThan(20));

  for (const name of NAMES) {
    const events = readTranscript(name);
    const durable = events.filter(isDurable);

    test(`${name}: durable events alone fold to the same view as all events`, () => {
      expect(foldAll(EMPTY, durable)).toEqual(foldAll(EMPTY, events));
    });

    test(`${name}: replaying events, after any prefix, does not change the view`, () => {
      const whole = foldAll(EMPTY, events);
      expect(foldAll(whole, durable)).toBe(whole);
      for (let cut = 0; cut < events.length; cut++) {
        const before = foldAll(EMPTY, events.slice(0, cut));
        expect(foldAll(before, durable)).toEqual(whole);
      }
    });

    test(`${name}: fold does not mutate its arguments`, () => {
      let view = frozen(EMPTY);
      for (const event of events) view = frozen(fold(view, frozen(event)));
      expect(view.seq).toBe(durable.at(-1)?.seq ?? 0);
    });

    test(`${name}: every event of a turn is in the seqs of an item, unless a step was discarded`, () => {
      if (events.some(({ type }) => VOIDING.has(type))) return;
      const lists = JSON.stringify(viewOf(name)).match(/"seqs":\[[\d,]*\]/g) ?? [];
      const known = new Set(lists.flatMap((list) => list.match(/\d+/g) ?? []));
      const missing = durable.filter((event) => !known.has(String(event.seq))).map(({ type }) => type);
      expect(
        missing.filter(
          (type) => !type.startsWith('session.') && type !== 'grant.revoked' && type !== 'child.stopped',
        ),
      ).toEqual([]);
    });
  }
});
