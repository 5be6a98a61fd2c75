/** Sessions by the day of their last change. Pure. */
import type { Session } from '@parlance/sdk';

export type DayGroup<One> = { readonly name: string; readonly sessions: readonly One[] };

const DAY_MS = 24 * 60 * 60 * 1_000;

/** `sessions` are sorted, the last change first. */
export function dayGroups<One extends Pick<Session, 'updatedAt'>>(
  sessions: readonly One[],
  now: Date,
): DayGroup<One>[] {
  const dayOf = daysBefore(now);
  const groups: { name: string; sessions: One[] }[] = [];
  for (const session of sessions) {
    const name = dayOf(session.updatedAt);
    const last = groups.at(-1);
    if (last?.name === name) last.sessions.push(session);
    else groups.push({ name, sessions: [session] });
  }
  return groups;
}

/** The name of the day of a time. Both are compared as ISO 8601, which is quick for long lists. */
export function daysBefore(now: Date): (at: string) => string {
  const today = new Date(now.getFullYear(), now.getMonth(), now.getDate());
  // The day before may have 23 or 25 hours.
  const yesterday = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1);
  const before = (days: number) => new Date(today.getTime() - days * DAY_MS);
  const days = [
    { name: 'Today', since: today.toISOString() },
    { name: 'Yesterday', since: yesterday.toISOString() },
    { name: 'Previous 7 days', since: before(7).toISOString() },
    { name: 'Previous 30 days', since: before(30).toISOString() },
  ];
  return (at) => days.find(({ since }) => at >= since)?.name ?? 'Older';
}
