import { expect, test } from 'bun:test';
import { sleep } from './sleep.ts';

const HOUR_MS = 3_600_000;

test('a sleep ends when its time has passed', async () => {
  await sleep(1, new AbortController().signal);
});

test('a sleep ends when the signal is aborted, before or during it', async () => {
  await sleep(HOUR_MS, AbortSignal.abort());
  const controller = new AbortController();
  const sleeping = sleep(HOUR_MS, controller.signal);
  controller.abort();
  expect(await sleeping).toBeUndefined();
});
