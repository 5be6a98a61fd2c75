/** Sessions by the day of their last change. Pure. */
import type { Session } from '@parlance/sdk';

export type DayGroup<One> = { readonly name: string; readonly sessions: readonly One[] };

const DAY_MS = 24 * 60 * 60 * 1_000;

/** `sessions` are sorted, the last change first. */
export function dayGroups<One extends Pick<Session, 'updatedAt'>>(
  sessions: readonly One[],
  now: Date,
): DayGroup<One>[] {
  const today = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
  const groups: { name: string; sessions: One[] }[] = [];
  for (const session of sessions) {
    const name = nameOf(Date.parse(session.updatedAt), today);
    const last = groups.at(-1);
    if (last?.name === name) last.sessions.push(session);
    else groups.push({ name, sessions: [session] });
  }
  return groups;
}

function nameOf(at: number, today: number): string {
  if (at >= today) return 'Today';
  // The day before may have 23 or 25 hours.
  if (at >= new Date(today - DAY_MS / 2).setHours(0, 0, 0, 0)) return 'Yesterday';
  if (at >= today - 7 * DAY_MS) return 'Previous 7 days';
  if (at >= today - 30 * DAY_MS) return 'Previous 30 days';
  return 'Older';
}
