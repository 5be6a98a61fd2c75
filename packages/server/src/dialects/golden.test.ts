import { describe, expect, test } from 'bun:test';
import type { SessionEvent } from '@parlance/protocol';
import { SCENARIOS } from '../testing/scenarios.ts';
import {
  goldenNames,
  goldenPath,
  NEW_SESSION,
  projected,
  readText,
  readTranscript,
  toLines,
  transcriptPath,
} from '../testing/transcripts.ts';
import { PROJECTED } from './index.ts';

const NAMES = Object.keys(SCENARIOS);
/** Transcripts that every dialect must cover. */
const COMMON = [
  'plain-answer',
  'reasoning',
  'tool-call',
  'approval-yes',
  'approval-no',
  'failure-mid-stream',
  'cancel',
  'supersede',
  'resume',
];

test('the common transcripts exist', () => {
  expect(NAMES).toEqual(expect.arrayContaining(COMMON));
});

describe('transcripts match the engine', () => {
  for (const [name, play] of Object.entries(SCENARIOS)) {
    test(name, async () => {
      expect(toLines(await play())).toBe(readText(transcriptPath(name)) ?? 'missing: npm run golden');
    });
  }
});

for (const dialect of PROJECTED) {
  describe(`golden files of ${dialect.name}`, () => {
    test('exist for every transcript, and no other', () => {
      expect(goldenNames(dialect.name).sort()).toEqual([...NAMES].sort());
    });
    for (const name of NAMES) {
      test(name, () => {
        const golden = readText(goldenPath(dialect.name, name));
        expect(projected(dialect, readTranscript(name))).toBe(golden ?? 'missing: npm run golden');
      });
    }
    test('a delta does not grow the state', () => {
      const events = readTranscript('plain-answer');
      const last = events.findLastIndex((event) => event.type === 'text.delta');
      let state = dialect.projection.start(NEW_SESSION);
      for (const event of events.slice(0, last)) [state] = dialect.projection.step(state, event);
      const [after] = dialect.projection.step(state, events[last] as SessionEvent);
      expect(after).toBe(state);
    });
  });
}
