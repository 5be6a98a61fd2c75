/** Lists sessions of a running server, or of a data folder without a server. */
import type { Session } from '@parlance/sdk';
import { chosenFolder, type ServerFlags } from './address.ts';
import { openRunning } from './open.ts';

export type SessionsQuery = {
  /** substring of the title */
  readonly text: string;
  readonly status: Session['status'] | undefined;
  readonly isArchived: boolean;
  readonly limit: number;
};

/** Most recently changed first. */
export async function listSessions(flags: ServerFlags, query: SessionsQuery): Promise<Session[]> {
  const connection = await openRunning(flags);
  if (!connection) {
    const { storedSessions } = await import('./stored-sessions.ts');
    return storedSessions((await chosenFolder(flags)).folder, query);
  }
  const { text, status, isArchived, limit } = query;
  const found: Session[] = [];
  const page = { q: text || undefined, status, archived: isArchived ? ('included' as const) : undefined };
  for await (const session of connection.parlance.sessions.all({ ...page, limit: 100 })) {
    if (found.length >= limit) break;
    found.push(session);
  }
  return found;
}

const UNITS = [
  ['d', 24 * 60 * 60],
  ['h', 60 * 60],
  ['min', 60],
] as const;

/** `5 min ago`; a date after a week. */
export function ago(time: string, now = Date.now()): string {
  const seconds = Math.max(0, (now - Date.parse(time)) / 1_000);
  if (seconds > 7 * 24 * 60 * 60) return time.slice(0, 10);
  for (const [unit, length] of UNITS)
    if (seconds >= length) return `${Math.floor(seconds / length)} ${unit} ago`;
  return 'just now';
}
