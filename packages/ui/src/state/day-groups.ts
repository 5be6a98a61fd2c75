/** Sessions by the day of their last change. Pure. */
import type { Session } from '@parlance/sdk';
import { partitionPoint } from './partition-point.ts';

type Dated = Pick<Session, 'updatedAt'>;

export type DayGroup<One> = { readonly name: string; readonly sessions: readonly One[] };
/** Indexes of the sessions of a group: from `start` up to `end`, which is not one of them. */
export type DayRange = { readonly name: string; readonly start: number; readonly end: number };

const DAY_MS = 24 * 60 * 60 * 1_000;

/** `sessions` are sorted, the last change first. */
export const dayGroups = <One extends Dated>(sessions: readonly One[], now: Date): DayGroup<One>[] =>
  dayRanges(sessions, now).map(({ name, start, end }) => ({ name, sessions: sessions.slice(start, end) }));

/** As `dayGroups`. Examines few of the sessions. */
export function dayRanges(sessions: readonly Dated[], now: Date): DayRange[] {
  let start = 0;
  return daysBefore(now).flatMap(({ name, since }) => {
    const range = { name, start, end: partitionPoint(sessions, ({ updatedAt }) => updatedAt >= since) };
    start = range.end;
    return range.end > range.start ? [range] : [];
  });
}

/** Times are compared as ISO 8601; the last day has all that is older. */
function daysBefore(now: Date): { readonly name: string; readonly since: string }[] {
  const today = new Date(now.getFullYear(), now.getMonth(), now.getDate());
  // The day before may have 23 or 25 hours.
  const yesterday = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1);
  const before = (days: number) => new Date(today.getTime() - days * DAY_MS);
  return [
    { name: 'Today', since: today.toISOString() },
    { name: 'Yesterday', since: yesterday.toISOString() },
    { name: 'Previous 7 days', since: before(7).toISOString() },
    { name: 'Previous 30 days', since: before(30).toISOString() },
    { name: 'Older', since: '' },
  ];
}
