/** The short run; `npm run fuzz -- --seed N --count N` is the long one. */
import { expect, test } from 'bun:test';
import { DRIVERS } from '../drivers.ts';
import { hostile } from './hostile.ts';
import { RandomSource } from './random.ts';
import { fuzzedServer } from './server.ts';

test('thousands of hostile messages find no bug, and every dialect answers afterwards', async () => {
  const { sent, problems, logged, answering, statuses } = await fuzzedServer({ seed: 1, count: 3_000 });
  // Together: the log has the cause of a problem.
  expect([...problems, ...logged]).toEqual([]);
  expect(answering).toEqual(Object.keys(DRIVERS));
  expect(sent).toBeGreaterThanOrEqual(3_000);
  expect(Object.keys(statuses)).toEqual(expect.arrayContaining(['200', '400', '404']));
});

test('a seed always gives the same messages', () => {
  const example = { type: 'chat', message: 'hello', payload: { nested: [1, 2] } };
  const made = (seed: number) => {
    const chance = new RandomSource(seed);
    return Array.from({ length: 200 }, () => hostile(example, chance));
  };
  expect(made(7)).toEqual(made(7));
  expect(made(7)).not.toEqual(made(8));
});
