import { expect, test } from 'bun:test';
import { Slots } from './slots.ts';

const never = new AbortController().signal;

test('callers wait in order if all slots are taken', async () => {
  const slots = new Slots(1);
  const order: string[] = [];
  const leave = await slots.enter(never);
  const second = slots.enter(never).then((left) => {
    order.push('second');
    return left;
  });
  const third = slots.enter(never).then((left) => {
    order.push('third');
    return left;
  });
  await Bun.sleep(1);
  expect(order).toEqual([]);
  leave();
  leave();
  (await second)();
  (await third)();
  expect(order).toEqual(['second', 'third']);
  (await slots.enter(never))();
});

test('an aborted caller leaves the queue', async () => {
  const slots = new Slots(1);
  const leave = await slots.enter(never);
  const abort = new AbortController();
  const waiting = slots.enter(abort.signal);
  abort.abort();
  await expect(waiting).rejects.toThrow('too many pages');
  await expect(slots.enter(abort.signal)).rejects.toThrow('too many pages');
  leave();
  (await slots.enter(never))();
});
