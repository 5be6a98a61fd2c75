import { describe, expect, test } from 'bun:test';
import { Bounded } from './bounded.ts';

const bounded = (most = 3, largest = 100) =>
  new Bounded<string>({ most, largest, sizeOf: ({ length }) => length });

describe('a bounded buffer', () => {
  test('keeps the latest, and counts what had to go', () => {
    const buffer = bounded();
    buffer.add(['a', 'b']);
    buffer.add(['c', 'd', 'e']);
    expect(buffer.items).toEqual(['c', 'd', 'e']);
    expect(buffer.dropped).toBe(2);
  });

  test('is bounded in size, too; the latest is kept even where it is too large by itself', () => {
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

  test('while held shows what it showed, keeps what comes up to the bound, and counts it', () => {
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

  test('cleared, begins anew and stays held', () => {
    const buffer = bounded();
    buffer.add(['a', 'b', 'c', 'd']);
    buffer.hold();
    buffer.add(['e']);
    buffer.clear();
    expect([buffer.items.length, buffer.waiting, buffer.dropped]).toEqual([0, 0, 0]);
    buffer.add(['f']);
    expect([buffer.items.length, buffer.waiting]).toEqual([0, 1]);
  });

  test('the items are the same array until they change, so that a page need not draw', () => {
    const buffer = bounded();
    buffer.add(['a']);
    const before = buffer.items;
    buffer.add([]);
    buffer.release();
    expect(buffer.items).toBe(before);
  });
});
