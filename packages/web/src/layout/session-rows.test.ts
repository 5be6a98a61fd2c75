import { expect, test } from 'bun:test';
import { sectionsOf, sessionRows } from './session-rows.ts';

const NOW = new Date(2026, 5, 15, 9, 30);
const at = (day: number, pinned = false) => ({
  updatedAt: new Date(2026, 5, day, 8).toISOString(),
  pinned,
});

const texts = (rows: ReturnType<typeof sessionRows>) =>
  rows.map((row) => (row.kind === 'heading' ? row.group : row.session.updatedAt.slice(8, 10)));

test('each day has a heading before its sessions', () => {
  expect(texts(sessionRows([at(15), at(15), at(14), at(9)], [], NOW))).toEqual([
    'Today',
    '15',
    '15',
    'Yesterday',
    '14',
    'Previous 7 days',
    '09',
  ]);
  expect(sessionRows([], [], NOW)).toEqual([]);
});

test('pinned sessions come first, and once', () => {
  const pinned = [at(9, true)];
  expect(texts(sessionRows([at(15), ...pinned], pinned, NOW))).toEqual(['Pinned', '09', 'Today', '15']);
});

test('rows in view are put into sections, the first of which may begin above', () => {
  const rows = sessionRows([at(15), at(15), at(14)], [], NOW).map((row, index) => ({ row, index }));
  const sections = sectionsOf(rows.slice(2));
  expect(sections.map(({ group, heading, items }) => [group, heading?.index, items.length])).toEqual([
    ['Today', undefined, 1],
    ['Yesterday', 3, 1],
  ]);
});
