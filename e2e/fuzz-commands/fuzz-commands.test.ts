/** The short run; `npm run fuzz:commands -- --seed N --count N` is the long one. */
import { expect, test } from 'bun:test';
import { findSandbox } from '../../packages/server/src/tools/shell/sandbox.ts';
import { RandomSource } from '../fuzz/random.ts';
import { MIN_AUTO_APPROVED } from './limits.ts';
import { lineFrom } from './lines.ts';
import { fuzzCommands } from './run.ts';

test('hundreds of command lines that run without approval cannot read, change or run anything outside, and many do run', async () => {
  const { checked, ran, programs, problems } = await fuzzCommands({ seed: 1, count: 800, sandbox: null });
  expect(problems).toEqual([]);
  expect(ran / checked).toBeGreaterThan(MIN_AUTO_APPROVED);
  expect(Object.keys(programs)).toEqual(
    expect.arrayContaining(['git', 'cat', 'grep', 'rg', 'find', 'ls', 'cd']),
  );
});

test('the same holds in the sandbox, if there is one', async () => {
  const { checked, ran, problems } = await fuzzCommands({
    seed: 2,
    count: 200,
    sandbox: await findSandbox(),
  });
  expect(problems).toEqual([]);
  expect(ran / checked).toBeGreaterThan(MIN_AUTO_APPROVED);
});

test('a seed always gives the same lines', () => {
  const made = (seed: number) => {
    const chance = new RandomSource(seed);
    return Array.from({ length: 200 }, () => lineFrom(chance));
  };
  expect(made(7)).toEqual(made(7));
  expect(made(7)).not.toEqual(made(8));
});
