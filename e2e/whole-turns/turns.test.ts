/** Whole turns of clients of the vendors' APIs, against golden files. `npm run golden` writes them. */
import { expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readText } from '../../packages/server/src/testing/transcripts.ts';
import { goldenFile, recordedTurns, TURNS } from './turns.ts';

const recorded = await recordedTurns();

test('there is a file for every turn, and no other', () => {
  const files = readdirSync(join(import.meta.dir, 'golden'));
  expect(files.sort()).toEqual(
    Object.keys(TURNS)
      .map((name) => `${name}.jsonl`)
      .sort(),
  );
});

test.each(Object.keys(TURNS))('%s', (name) => {
  expect(recorded[name]).toBe(readText(goldenFile(name)) ?? 'missing: npm run golden');
});
