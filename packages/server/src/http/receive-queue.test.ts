import { expect, test } from 'bun:test';
import { ReceiveQueue } from './receive-queue.ts';

const soon = () => new Promise<void>((resolve) => setImmediate(resolve));

test('frames are handled sequentially and in order, however long each takes', async () => {
  const receiveQueue = new ReceiveQueue(() => undefined);
  const seen: string[] = [];
  const first = Promise.withResolvers<void>();
  receiveQueue.put(async () => {
    seen.push('first begins');
    await first.promise;
    seen.push('first ends');
  });
  receiveQueue.put(() => void seen.push('second'));
  receiveQueue.put(async () => void seen.push('third'));
  await soon();
  expect(seen).toEqual(['first begins']);
  first.resolve();
  await soon();
  expect(seen).toEqual(['first begins', 'first ends', 'second', 'third']);
});

test('a frame for an empty queue is handled immediately', () => {
  const receiveQueue = new ReceiveQueue(() => undefined);
  let handled = false;
  receiveQueue.put(() => {
    handled = true;
  });
  expect(handled).toBe(true);
});

test('a frame that fails, synchronously or not, is reported and does not stop the next', async () => {
  const failures: unknown[] = [];
  const receiveQueue = new ReceiveQueue((thrown) => failures.push(thrown));
  const seen: number[] = [];
  receiveQueue.put(() => {
    throw new Error('at once');
  });
  receiveQueue.put(async () => {
    await soon();
    throw new Error('later');
  });
  receiveQueue.put(() => void seen.push(3));
  await soon();
  await soon();
  expect(failures.map(String)).toEqual(['Error: at once', 'Error: later']);
  expect(seen).toEqual([3]);
});

test('a full queue refuses a frame, and accepts frames again when there is room', async () => {
  const receiveQueue = new ReceiveQueue(() => undefined, { frames: 2, bytes: 100 });
  const authenticator = Promise.withResolvers<void>();
  const work = () => authenticator.promise;
  expect([
    receiveQueue.put(work),
    receiveQueue.put(work),
    receiveQueue.put(work),
    receiveQueue.put(work),
  ]).toEqual([true, true, true, false]);
  authenticator.resolve();
  await soon();
  expect(receiveQueue.put(work)).toBe(true);
});

test('the bytes in the queue are limited', async () => {
  const receiveQueue = new ReceiveQueue(() => undefined, { frames: 1_000, bytes: 100 });
  const authenticator = Promise.withResolvers<void>();
  const work = () => authenticator.promise;
  expect([receiveQueue.put(work, 90), receiveQueue.put(work, 60), receiveQueue.put(work, 60)]).toEqual([
    true,
    true,
    false,
  ]);
  authenticator.resolve();
  await soon();
  expect(receiveQueue.put(work, 100)).toBe(true);
});

test('a frame added while another is handled waits for it', () => {
  const receiveQueue = new ReceiveQueue(() => undefined);
  const seen: string[] = [];
  receiveQueue.put(() => {
    receiveQueue.put(() => void seen.push('inner'));
    seen.push('outer');
  });
  expect(seen).toEqual(['outer', 'inner']);
});
