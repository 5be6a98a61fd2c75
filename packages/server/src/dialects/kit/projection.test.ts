import { expect, test } from 'bun:test';
import { nthId } from './projection.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const IDS = ['00000001-0000-4000-8000-000000000000', '0b0d5c1e-52d1-4a6b-9f3e-ffffffffffff'];
const BOUNDARIES = [65_536, 2 ** 31, 2 ** 32, 2 ** 47];
const NUMBERS = [...BOUNDARIES.flatMap((n) => [n - 2, n - 1, n, n + 1]), 2 * 65_536, 2 ** 48 - 1];

test('every derived id is a UUID, even at powers of two from 65,536, where digits could be lost', () => {
  for (const id of IDS) for (const n of NUMBERS) expect(nthId(id, n)).toMatch(UUID);
});

test('different numbers give different ids, and only 0 gives the id itself', () => {
  for (const id of IDS) {
    expect(new Set([0, 1, 2, ...NUMBERS].map((n) => nthId(id, n))).size).toBe(NUMBERS.length + 3);
    expect(nthId(id, 0)).toBe(id);
  }
});

test('ids below 65,536 keep the values that clients of stored sessions know', () => {
  expect(nthId('0b0d5c1e-52d1-4a6b-9f3e-11112222abcd', 1)).toBe('0b0d5c1e-52d1-4a6b-9f3e-11112222abcc');
  expect(nthId('0b0d5c1e-52d1-4a6b-9f3e-11112222abcd', 65_535)).toBe('0b0d5c1e-52d1-4a6b-9f3e-111122225432');
  expect(nthId('0b0d5c1e-52d1-4a6b-9f3e-11112222abcd', 65_536)).toBe('0b0d5c1e-52d1-4a6b-9f3e-11112223abcd');
});
