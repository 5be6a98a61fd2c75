import { expect, test } from 'bun:test';
import { LruMap } from './lru-map.ts';

test('removes the least recently used entry if there are too many', () => {
  const map = new LruMap<number>(2);
  map.set('a', 1);
  map.set('b', 2);
  expect(map.get('a')).toBe(1);
  map.set('c', 3);
  expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([1, undefined, 3]);
});

test('an entry that is set again is the most recently used one', () => {
  const map = new LruMap<number>(2);
  map.set('a', 1);
  map.set('b', 2);
  map.set('a', 3);
  map.set('c', 4);
  expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([3, undefined, 4]);
});

test('a removed entry leaves room for another', () => {
  const map = new LruMap<number>(2);
  map.set('a', 1);
  map.set('b', 2);
  map.delete('b');
  map.set('c', 3);
  expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([1, undefined, 3]);
});
