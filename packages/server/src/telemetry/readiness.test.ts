import { expect, test } from 'bun:test';
import { Fault } from '@parlance/protocol';
import { Readiness } from './readiness.ts';

test('the server is ready after recovery, and not ready once it drains', async () => {
  const readiness = new Readiness(async () => undefined);
  expect(await readiness.problem()).toMatchObject({ reason: 'starting' });
  readiness.serving();
  expect(await readiness.problem()).toBeNull();
  readiness.draining();
  expect(await readiness.problem()).toMatchObject({ reason: 'draining' });
});

test('an unwritable store makes it not ready until it is writable again', async () => {
  let now = 0;
  let full = true;
  const write = async () => {
    if (full) throw new Error('the disk is full');
  };
  const readiness = new Readiness(write, () => now);
  readiness.serving();
  expect(await readiness.problem()).toEqual({
    reason: 'storage_unavailable',
    detail: 'Storage is temporarily unavailable.',
  });
  full = false;
  now += 1_000;
  expect(await readiness.problem()).toBeNull();
});

test('the reason is shown if the store gives one for clients', async () => {
  const readiness = new Readiness(async () => {
    throw new Fault('storage_unavailable', 'There is no space left.');
  });
  readiness.serving();
  expect(await readiness.problem()).toMatchObject({ detail: 'There is no space left.' });
});

test('the store is probed at most once a second, however often readiness is requested', async () => {
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
