import { expect, test } from 'bun:test';
import { sectionsOf, sessionRows, shiftOf } from './sessions.tsx';

type Dated = { readonly updatedAt: string };

const NOW = new Date(2026, 5, 15, 9, 30);
const at = (day: number) => ({ updatedAt: new Date(2026, 5, day, 8).toISOString() });

const rowsOf = (sorted: readonly Dated[], pinned: readonly Dated[] = []) => {
  const rows = sessionRows({ sorted, pinned }, NOW);
  return Array.from({ length: rows.count }, (_, index) => rows.at(index));
};
const texts = (rows: ReturnType<typeof rowsOf>) =>
  rows.map((row) => (row?.kind === 'session' ? row.session.updatedAt.slice(8, 10) : row?.group));

test('each day has a heading before its sessions', () => {
  expect(texts(rowsOf([at(15), at(15), at(14), at(9)]))).toEqual([
    'Today',
    '15',
    '15',
    'Yesterday',
    '14',
    'Previous 7 days',
    '09',
  ]);
  expect(rowsOf([])).toEqual([]);
});

test('pinned sessions come first', () => {
  expect(texts(rowsOf([at(15)], [at(9)]))).toEqual(['Pinned', '09', 'Today', '15']);
  expect(texts(rowsOf([], [at(9)]))).toEqual(['Pinned', '09']);
});

test('there is no row before the first and after the last', () => {
  const rows = sessionRows({ sorted: [at(15)], pinned: [at(9)] }, NOW);
  expect([rows.at(-1), rows.at(rows.count)]).toEqual([undefined, undefined]);
});

test('rows of 100,000 sessions examine few of them', () => {
  let reads = 0;
  const sorted = Array.from({ length: 100_000 }, (_, index) => ({
    get updatedAt() {
      reads++;
      return new Date(NOW.getTime() - index * 60_000).toISOString();
    },
  }));
  const rows = sessionRows({ sorted, pinned: [] }, NOW);
  expect(rows.count).toBe(100_000 + 5);
  expect(rows.at(rows.count - 1)).toEqual({
    kind: 'session',
    group: 'Older',
    session: sorted[99_999],
  } as never);
  // five days, each found by bisection
  expect(reads).toBeLessThan(5 * 20);
});

test('rows in view are put into sections, the first of which may begin above', () => {
  const rows = rowsOf([at(15), at(15), at(14)]).flatMap((row, index) => (row ? [{ row, index }] : []));
  const sections = sectionsOf(rows.slice(2));
  expect(sections.map(({ group, heading, items }) => [group, heading?.index, items.length])).toEqual([
    ['Today', undefined, 1],
    ['Yesterday', 3, 1],
  ]);
});

test('rows move when others come or go above them', () => {
  const rowsWith = (...keys: string[]) =>
    sessionRows({ sorted: keys.map((key) => ({ ...at(15), key })), pinned: [] }, NOW);
  const before = rowsWith('a', 'b', 'c', 'd');
  // row 0 is the heading
  expect(shiftOf(before, rowsWith('new', 'a', 'b', 'c', 'd'), 2)).toBe(1);
  expect(shiftOf(before, rowsWith('b', 'c', 'd'), 2)).toBe(-1);
  expect(shiftOf(before, rowsWith('a', 'b', 'c', 'd', 'e'), 2)).toBe(0);
  // The first one in view has moved to the front itself.
  expect(shiftOf(before, rowsWith('b', 'a', 'c', 'd'), 2)).toBe(0);
  expect(shiftOf(before, rowsWith('x', 'y'), 2)).toBe(0);
});
