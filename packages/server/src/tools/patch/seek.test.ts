import { expect, test } from 'bun:test';
import { seekLines } from './seek.ts';

test('finds lines forward from the start position', () => {
  const lines = ['a', 'b', 'a', 'b'];
  expect(seekLines(lines, ['a', 'b'], { from: 0 })).toBe(0);
  expect(seekLines(lines, ['a', 'b'], { from: 1 })).toBe(2);
  expect(seekLines(lines, ['a', 'b'], { from: 3 })).toBe(-1);
  expect(seekLines(lines, ['a', 'b', 'a', 'b', 'a'], { from: 0 })).toBe(-1);
});

test('a later exact match beats an earlier lenient one', () => {
  expect(seekLines([' a', 'a '], ['a'], { from: 0 })).toBe(1);
  expect(seekLines([' a', 'a ', 'a'], ['a'], { from: 0 })).toBe(2);
});

test('ignores trailing blanks, then outer blanks, then look-alike characters', () => {
  expect(seekLines(['x', 'a  '], ['a'], { from: 0 })).toBe(1);
  expect(seekLines(['x', '\t a'], ['a '], { from: 0 })).toBe(1);
  expect(seekLines(['x', 'a \u2013 \u201cb\u201d\u00a0\u2018c\u2019'], ['a - "b" \'c\''], { from: 0 })).toBe(
    1,
  );
  expect(seekLines(['x', 'a - "b"'], ['a \u2212 \u201eb\u201f'], { from: 0 })).toBe(1);
});

test('pinned to the end, it finds nothing before the end', () => {
  expect(seekLines(['a', 'b', 'a'], ['a'], { from: 0, atEnd: true })).toBe(2);
  expect(seekLines(['a', 'b'], ['a'], { from: 0, atEnd: true })).toBe(-1);
  expect(seekLines(['a'], ['a'], { from: 1, atEnd: true })).toBe(-1);
});
