import { expect, test } from 'bun:test';
import { cyclesIn } from './import-cycles.ts';

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
