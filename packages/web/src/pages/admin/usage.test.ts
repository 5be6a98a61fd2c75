import { expect, test } from 'bun:test';
import type { UsageRow } from '@parlance/sdk';
import { daysOf, rangeOf, sumOf, topOf } from './usage.tsx';

const row = (given: Partial<UsageRow> = {}): UsageRow => ({
  calls: 1,
  inputTokens: 10,
  cachedTokens: 0,
  outputTokens: 5,
  reasoningTokens: 0,
  dollars: 0.5,
  unpricedCalls: 0,
  estimatedCalls: 0,
  ...given,
});

test('periods are calendar days in UTC, also at the turn of a year', () => {
  const now = Date.UTC(2026, 0, 3, 23, 30);
  expect(rangeOf('month', now)).toEqual({ from: '2026-01-01', to: '2026-01-03' });
  expect(rangeOf('last', now)).toEqual({ from: '2025-12-01', to: '2025-12-31' });
  expect(rangeOf('week', now)).toEqual({ from: '2025-12-28', to: '2026-01-03' });
  expect(rangeOf('quarter', now).from).toBe('2025-10-06');
});

test('days without usage are part of the chart', () => {
  const days = daysOf([row({ day: '2026-01-02' })], { from: '2026-01-01', to: '2026-01-03' });
  expect(days.map(({ day, calls }) => [day, calls])).toEqual([
    ['2026-01-01', 0],
    ['2026-01-02', 1],
    ['2026-01-03', 0],
  ]);
});

test('the largest entries are shown, and the others as one sum', () => {
  const rows = Array.from({ length: 12 }, (_, index) => ({ ...row({ dollars: index }), name: `m${index}` }));
  const top = topOf(rows, 'dollars');
  expect(top.map(({ name }) => name)).toEqual(['m11', 'm10', 'm9', 'm8', 'm7', 'm6', 'm5', '5 others']);
  expect(top.at(-1)?.dollars).toBe(0 + 1 + 2 + 3 + 4);
  expect(sumOf(top).dollars).toBe(sumOf(rows).dollars);
  expect(topOf(rows.slice(0, 3), 'calls')).toHaveLength(3);
});
