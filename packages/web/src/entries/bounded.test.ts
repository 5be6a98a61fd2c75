import { describe, expect, test } from 'bun:test';
import { Bounded } from './bounded.ts';

const bounded = (maxItems = 3, maxSize = 100) =>
  new Bounded<string>({ maxItems: maxItems, maxSize: maxSize, sizeOf: ({ length }) => length });

describe('a bounded buffer', () => {
  test('keeps the latest items and counts dropped ones', () => {
    const buffer = bounded();
    buffer.add(['a', 'b']);
    buffer.add(['c', 'd', 'e']);
    expect(buffer.items).toEqual(['c', 'd', 'e']);
    expect(buffer.dropped).toBe(2);
  });

  test('limits the total size; keeps the latest item even if it is too large', () => {
    const buffer = bounded(10, 5);
    buffer.add(['aaa', 'bbb']);
    expect(buffer.items).toEqual(['bbb']);
    buffer.add(['c'.repeat(50)]);
    expect(buffer.items).toEqual(['c'.repeat(50)]);
    buffer.add(['d']);
    expect(buffer.items).toEqual(['d']);
    buffer.add(['e', 'f', 'g', 'h']);
    expect(buffer.items).toHaveLength(5);
  });

  test('while held, keeps the shown items and buffers new ones up to the limit', () => {
    const buffer = bounded();
    buffer.add(['a']);
    const shown = buffer.items;
    buffer.hold();
    buffer.add(['b', 'c']);
    expect(buffer.items).toBe(shown);
    expect([buffer.waiting, buffer.dropped]).toEqual([2, 0]);
    buffer.add(['d', 'e']);
    expect([buffer.waiting, buffer.dropped]).toEqual([3, 1]);
    buffer.release();
    expect(buffer.items).toEqual(['c', 'd', 'e']);
    expect([buffer.waiting, buffer.dropped]).toEqual([0, 2]);
    buffer.add(['f']);
    expect(buffer.items).toEqual(['d', 'e', 'f']);
  });

  test('clear resets the counts and keeps the hold', () => {
    const buffer = bounded();
    buffer.add(['a', 'b', 'c', 'd']);
    buffer.hold();
    buffer.add(['e']);
    buffer.clear();
    expect([buffer.items.length, buffer.waiting, buffer.dropped]).toEqual([0, 0, 0]);
    buffer.add(['f']);
    expect([buffer.items.length, buffer.waiting]).toEqual([0, 1]);
  });

  test('returns the same array until the items change', () => {
    const buffer = bounded();
    buffer.add(['a']);
    const before = buffer.items;
    buffer.add([]);
    buffer.release();
    expect(buffer.items).toBe(before);
  });
});
