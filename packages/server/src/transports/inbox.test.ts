import { expect, test } from 'bun:test';
import { Inbox } from './inbox.ts';

const soon = () => new Promise<void>((resolve) => setImmediate(resolve));

test('frames are handled one after another, in order, however long each takes', async () => {
  const inbox = new Inbox(() => undefined);
  const seen: string[] = [];
  const first = Promise.withResolvers<void>();
  inbox.put(async () => {
    seen.push('first begins');
    await first.promise;
    seen.push('first ends');
  });
  inbox.put(() => void seen.push('second'));
  inbox.put(async () => void seen.push('third'));
  await soon();
  expect(seen).toEqual(['first begins']);
  first.resolve();
  await soon();
  expect(seen).toEqual(['first begins', 'first ends', 'second', 'third']);
});

test('a frame that comes to an idle inbox is handled at once', () => {
  const inbox = new Inbox(() => undefined);
  let handled = false;
  inbox.put(() => {
    handled = true;
  });
  expect(handled).toBe(true);
});

test('a frame that fails, at once or later, is reported and does not stop the next', async () => {
  const failures: unknown[] = [];
  const inbox = new Inbox((thrown) => failures.push(thrown));
  const seen: number[] = [];
  inbox.put(() => {
    throw new Error('at once');
  });
  inbox.put(async () => {
    await soon();
    throw new Error('later');
  });
  inbox.put(() => void seen.push(3));
  await soon();
  await soon();
  expect(failures.map(String)).toEqual(['Error: at once', 'Error: later']);
  expect(seen).toEqual([3]);
});

test('a full inbox refuses one more frame, and takes frames again when there is room', async () => {
  const inbox = new Inbox(() => undefined, { frames: 2, bytes: 100 });
  const gate = Promise.withResolvers<void>();
  const work = () => gate.promise;
  expect([inbox.put(work), inbox.put(work), inbox.put(work), inbox.put(work)]).toEqual([
    true,
    true,
    true,
    false,
  ]);
  gate.resolve();
  await soon();
  expect(inbox.put(work)).toBe(true);
});

test('few but large frames cannot fill the memory', async () => {
  const inbox = new Inbox(() => undefined, { frames: 1_000, bytes: 100 });
  const gate = Promise.withResolvers<void>();
  const work = () => gate.promise;
  expect([inbox.put(work, 90), inbox.put(work, 60), inbox.put(work, 60)]).toEqual([true, true, false]);
  gate.resolve();
  await soon();
  expect(inbox.put(work, 100)).toBe(true);
});

test('a frame that is put while another is handled waits for it', () => {
  const inbox = new Inbox(() => undefined);
  const seen: string[] = [];
  inbox.put(() => {
    inbox.put(() => void seen.push('inner'));
    seen.push('outer');
  });
  expect(seen).toEqual(['outer', 'inner']);
});
