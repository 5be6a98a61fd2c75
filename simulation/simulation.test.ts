import { expect, test } from 'bun:test';
import { stale } from './mutants.ts';
import { PINNED } from './pinned.ts';
import { planOf } from './plan.ts';
import { describeFailure } from './report.ts';
import { run } from './run.ts';
import { shrink } from './shrink.ts';

const SEEDS = 120;
/** So that each run of the suite is not the first of every long run. */
const FROM = 100_000;

/** Null, or the failure as `npm run simulate -- --seed` prints it. */
function failureOf(seed: number): string | null {
  const result = run(planOf(seed));
  return result.violation === null ? null : describeFailure(shrink(result));
}

test('nothing is broken in a few random worlds', () => {
  let turns = 0;
  for (let seed = FROM; seed < FROM + SEEDS; seed++) {
    const result = run(planOf(seed));
    if (result.violation !== null) throw new Error(describeFailure(shrink(result)));
    turns += result.turns;
  }
  // A world in which nothing happens cannot fail.
  expect(turns).toBeGreaterThan(SEEDS);
});

for (const [seed, sentence] of Object.entries(PINNED))
  test(`pinned seed ${seed}: ${sentence}`, () => expect(failureOf(Number(seed))).toBeNull());

test('every mutant replaces a fragment that is in the source', async () => expect(await stale()).toEqual([]));

test('one seed is one execution: the same log, the same frames, the same trace', () => {
  for (const seed of [3, 7, 17]) {
    const [once, again] = [run(planOf(seed)), run(planOf(seed))];
    expect(again.trace).toEqual(once.trace);
    expect(again.digest).toBe(once.digest);
    expect(run(planOf(seed + 1)).digest).not.toBe(once.digest);
  }
});
