/** Reads sessions from the data folder without starting a server, which would resume their turns. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { LOCAL } from '@parlance/protocol';
import type { Session } from '@parlance/sdk';
import { DATABASE_FILE, sessionView } from '@parlance/server/data';
import { openStorage } from '@parlance/server/storage';
import type { SessionsQuery } from './session-list.ts';

export async function storedSessions(folder: string, query: SessionsQuery): Promise<Session[]> {
  if (!existsSync(join(folder, DATABASE_FILE))) return [];
  const { text, status, isArchived, limit } = query;
  const store = await openStorage({ folder });
  const filter = {
    owner: LOCAL.id,
    limit: 100,
    title: text || undefined,
    status: status && [status],
    ...(isArchived && { archived: 'included' as const }),
  };
  try {
    const found: Session[] = [];
    for (
      let cursor: string | undefined, more = true;
      more && found.length < limit;
      more = cursor !== undefined
    ) {
      const page = await store.list({ ...filter, cursor });
      found.push(...page.sessions.map((record) => sessionView(record, {})));
      cursor = page.next ?? undefined;
    }
    return found.slice(0, limit);
  } finally {
    await store.close();
  }
}
