import { expect, test } from 'bun:test';
import { dayGroups } from './day-groups.ts';

const NOW = new Date(2026, 5, 15, 9, 30);
const at = (day: number, hour: number) => ({ updatedAt: new Date(2026, 5, day, hour).toISOString() });

test('groups sessions by the day of the reader', () => {
  const sessions = [
    at(15, 9),
    at(15, 0),
    at(14, 23),
    at(14, 0),
    at(13, 23),
    at(8, 12),
    at(1, 12),
    at(-60, 1),
  ];
  expect(dayGroups(sessions, NOW).map(({ name, sessions }) => [name, sessions.length])).toEqual([
    ['Today', 2],
    ['Yesterday', 2],
    ['Previous 7 days', 2],
    ['Previous 30 days', 1],
    ['Older', 1],
  ]);
});

test('there are no empty groups', () => {
  expect(dayGroups([], NOW)).toEqual([]);
  expect(dayGroups([at(1, 12)], NOW).map(({ name }) => name)).toEqual(['Previous 30 days']);
});
