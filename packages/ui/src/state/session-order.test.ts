import { expect, test } from 'bun:test';
import type { Session } from '@parlance/sdk';
import { keyOf, SessionOrder } from './session-order.ts';

/** A session that changed `minute` minutes after the start. */
const received = (id: string, minute: number, title = id) =>
  ({
    id,
    owner: 'local',
    title,
    updatedAt: new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString(),
  }) as unknown as Session;

const orderOf = (...sessions: Session[]): SessionOrder => {
  const order = new SessionOrder();
  order.replace(sessions, {});
  return order;
};
const ids = ({ all }: SessionOrder) => all.map(({ id }) => id as string);

test('sessions have the last change first', () => {
  const order = orderOf(received('a', 1), received('b', 3));
  order.put(received('c', 2));
  expect(ids(order)).toEqual(['b', 'c', 'a']);
});

test('a session that changes moves, and is listed once', () => {
  const order = orderOf(received('a', 3), received('b', 2), received('c', 1));
  order.put(received('c', 4, 'renamed'));
  expect(ids(order)).toEqual(['c', 'a', 'b']);
  expect(order.get('local c')?.title).toBe('renamed');
});

test('sessions of several owners may have the same id', () => {
  const order = orderOf(received('a', 2), { ...received('a', 1), owner: 'ada' });
  order.delete(keyOf({ id: 'a' as Session['id'], owner: 'local' }));
  expect(order.all.map(({ owner }) => owner)).toEqual(['ada']);
});

test('of sessions that changed at the same time, the right one goes', () => {
  const order = orderOf(received('a', 1), received('b', 1), received('c', 1));
  order.delete('local b');
  order.delete('local unknown');
  expect(ids(order)).toEqual(['a', 'c']);
});

test('a page does not replace sessions that are listed', () => {
  const order = orderOf(received('a', 3), received('b', 2, 'newer'));
  order.addOlder([received('b', 2, 'older'), received('c', 1)]);
  expect(order.all.map(({ title }) => title)).toEqual(['a', 'newer', 'c']);
});

test('a session that was added on its own stays behind a page with newer ones', () => {
  const order = orderOf(received('a', 9));
  order.put(received('unarchived', 1));
  order.addOlder([received('b', 8), received('c', 7)]);
  expect(ids(order)).toEqual(['a', 'b', 'c', 'unarchived']);
});

test('a part that was read again replaces what was there, and nothing else', () => {
  const known = [9, 8, 7, 6, 5, 4].map((minute) => received(`s${minute}`, minute));
  const at = (minute: number) => received('boundary', minute);
  const replaced = (read: readonly Session[], span: { after?: Session; until?: Session }) => {
    const order = orderOf(...known);
    order.replace(read, span);
    return ids(order);
  };
  expect(replaced([received('s9', 9), received('s7', 7)], { until: at(7) })).toEqual([
    's9',
    's7',
    's6',
    's5',
    's4',
  ]);
  expect(replaced([received('s5', 5)], { after: at(7), until: at(5) })).toEqual([
    's9',
    's8',
    's7',
    's5',
    's4',
  ]);
  expect(replaced([], { after: at(7) })).toEqual(['s9', 's8', 's7']);
  // It has changed since the newer part was read.
  expect(replaced([received('s8', 3)], { after: at(5) })).toEqual(['s9', 's7', 's6', 's5', 's8']);
});

test('each change makes a new array of the same sessions', () => {
  const order = orderOf(received('a', 3), received('b', 2), received('c', 1));
  const before = order.all;
  order.put(received('b', 4));
  order.addOlder([received('d', 0)]);
  expect(before.map(({ id }) => id as string)).toEqual(['a', 'b', 'c']);
  expect(order.all[1]).toBe(before[0] as never);
  expect(order.all[2]).toBe(before[2] as never);
});

test('in a list of 100,000, changes and pages examine few of the others', () => {
  const count = 100_000;
  const FEW = 200;
  const order = new SessionOrder();
  order.replace(
    Array.from({ length: count }, (_, index) => received(`s${index}`, count + 1_000 - index)),
    {},
  );
  let reads = 0;
  const counted = (value: string) => () => {
    reads++;
    return value;
  };
  for (const listed of order.all) {
    const { updatedAt } = listed;
    Object.defineProperty(listed, 'updatedAt', { get: counted(updatedAt) });
  }
  const readsOf = (change: () => void): number => {
    reads = 0;
    change();
    return reads;
  };
  const page = Array.from({ length: 200 }, (_, index) => received(`older${index}`, 900 - index));
  expect(readsOf(() => order.addOlder(page))).toBeLessThan(FEW);
  expect(readsOf(() => order.put(received('s50000', count + 2_000)))).toBeLessThan(FEW);
  expect(readsOf(() => order.delete('local s99999'))).toBeLessThan(FEW);
  expect([order.all.length, order.all[0]?.id, order.all.at(-1)?.id]).toEqual([
    count + 199,
    's50000' as never,
    'older199' as never,
  ]);
});
