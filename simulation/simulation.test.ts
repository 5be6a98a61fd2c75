import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { stale } from './mutants.ts';
import { PINNED, PINNED_ABOUT } from './pinned.ts';
import { type About, planOf } from './plan.ts';
import { describeFailure } from './report.ts';
import { run } from './run.ts';
import { shrink } from './shrink.ts';
import { Process, World } from './world.ts';

const SEEDS = 120;
/** So that each run of the suite is not the first of every long run. */
const FROM = 100_000;

/** Null, or the failure as `npm run simulate -- --seed` prints it. */
function failureOf(seed: number, about: About): string | null {
  const result = run(planOf(seed, about));
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
  test(`pinned seed ${seed}: ${sentence}`, () => expect(failureOf(Number(seed), 'anything')).toBeNull());
for (const [about, seed, sentence] of PINNED_ABOUT)
  test(`pinned seed ${seed} of ${about}: ${sentence}`, () => expect(failureOf(seed, about)).toBeNull());

test('every mutant replaces a fragment that is in the source', async () => expect(await stale()).toEqual([]));

test('one seed is one execution: the same log, the same frames, the same trace, also in another process', async () => {
  const main = join(import.meta.dir, 'main.ts');
  for (const seed of [3, 7, 17]) {
    const [once, again] = [run(planOf(seed)), run(planOf(seed))];
    expect(again.trace).toEqual(once.trace);
    expect(again.digest).toBe(once.digest);
    expect(run(planOf(seed + 1)).digest).not.toBe(once.digest);
    const elsewhere = Bun.spawn([process.execPath, main, '--seed', `${seed}`], { stdout: 'pipe' });
    expect(await elsewhere.stdout.text()).toContain(`digest ${once.digest}`);
  }
});

/** What a run consists of below the engine, so that the digest changes with the simulation only. */
test('the order of a world is the same on every machine', () => {
  const world = new World(7);
  const order: string[] = [];
  const processes = ['one', 'two', 'three'].map((name) => new Process(world, name));
  const live = async (process: Process) => {
    const { name, random, clock, newId } = process;
    for (let step = 0; step < 200; step++) {
      await process.sleep(random.latency(5));
      order.push(
        `${name} ${world.now} ${clock.now()} ${newId()} ${random.pick(['a', 'b', 'c'])} ${random.chance(0.5)}`,
      );
      clock.setTimeout(() => order.push(`${name} timer ${world.now}`), random.between(0, 9));
    }
  };
  for (const process of processes) void live(process);
  world.after(100, () => processes[1]?.pause(50));
  world.after(300, () => processes[2]?.kill());
  world.run(10_000);
  expect(order.length).toBeGreaterThan(500);
  expect(new Bun.CryptoHasher('sha256').update(order.join('\n')).digest('hex')).toBe(
    'dde588c5acbe88be077b80e6630f0691ac850b147e8cd5d68ab035fac55d70e5',
  );
});
