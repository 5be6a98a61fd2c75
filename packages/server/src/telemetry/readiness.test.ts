import { expect, test } from 'bun:test';
import { Fault } from '@parlance/protocol';
import { Readiness } from './readiness.ts';

test('it serves when it has taken up what was unfinished, and no more once it drains', async () => {
  const readiness = new Readiness(async () => undefined);
  expect(await readiness.problem()).toMatchObject({ reason: 'starting' });
  readiness.serving();
  expect(await readiness.problem()).toBeNull();
  readiness.draining();
  expect(await readiness.problem()).toMatchObject({ reason: 'draining' });
});

test('a store that cannot be written to is a reason, until it can', async () => {
  let now = 0;
  let full = true;
  const write = async () => {
    if (full) throw new Error('the disk is full');
  };
  const readiness = new Readiness(write, () => now);
  readiness.serving();
  expect(await readiness.problem()).toEqual({
    reason: 'storage_unavailable',
    detail: 'The server cannot store anything just now.',
  });
  full = false;
  now += 1_000;
  expect(await readiness.problem()).toBeNull();
});

test('why nothing can be written is told where the store says it in words for clients', async () => {
  const readiness = new Readiness(async () => {
    throw new Fault('storage_unavailable', 'There is no space left.');
  });
  readiness.serving();
  expect(await readiness.problem()).toMatchObject({ detail: 'There is no space left.' });
});

test('however often it is asked, the store is written to at most once a second', async () => {
  let now = 0;
  let writes = 0;
  const write = async () => {
    writes++;
  };
  const readiness = new Readiness(write, () => now);
  readiness.serving();
  await Promise.all(Array.from({ length: 100 }, () => readiness.problem()));
  now += 999;
  await readiness.problem();
  expect(writes).toBe(1);
  now += 1;
  await readiness.problem();
  expect(writes).toBe(2);
});
