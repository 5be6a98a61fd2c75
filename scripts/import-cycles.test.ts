import { expect, test } from 'bun:test';
import { cyclesIn, grouped } from './import-cycles.ts';

const graph = (edges: Record<string, readonly string[]>) =>
  new Map(Object.entries(edges).map(([from, to]) => [from, new Set(to)]));

test('finds every cycle, but no file that only imports one', () => {
  const cycles = cyclesIn(
    graph({ a: ['b'], b: ['c'], c: ['b', 'd'], d: ['e'], e: ['f'], f: ['d'], g: ['a', 'f'] }),
  );
  expect(cycles.sort()).toEqual([
    ['b', 'c'],
    ['d', 'e', 'f'],
  ]);
  expect(cyclesIn(graph({ a: ['b', 'c'], b: ['d'], c: ['d'], d: [] }))).toEqual([]);
});

test('finds a cycle of folders that no file is part of', () => {
  const files = graph({ 'x/1': ['y/1'], 'y/1': [], 'y/2': ['x/2'], 'x/2': [], top: ['x/1'] });
  const folders = grouped(files, (file) => (file.includes('/') ? file.slice(0, 1) : null));
  expect(cyclesIn(files)).toEqual([]);
  expect(cyclesIn(folders)).toEqual([['x', 'y']]);
});
