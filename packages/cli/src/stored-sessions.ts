/** Reads sessions from the data folder without starting a server, which would resume their turns. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { LOCAL } from '@parlance/protocol';
import type { Session } from '@parlance/sdk';
import { DATABASE_FILE, type SessionRecord } from '@parlance/server/data';
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
      found.push(...page.sessions.map(sessionOf));
      cursor = page.next ?? undefined;
    }
    return found.slice(0, limit);
  } finally {
    await store.close();
  }
}

const sessionOf = ({
  ref,
  createdAt,
  updatedAt,
  messageCount,
  ephemeral,
  ...record
}: SessionRecord): Session => ({
  id: ref.id,
  owner: ref.owner,
  dialect: record.dialect,
  domain: record.domain,
  agent: record.agent,
  title: record.title,
  status: record.status,
  createdAt: new Date(createdAt).toISOString(),
  updatedAt: new Date(updatedAt).toISOString(),
  head: record.head,
  archived: record.archived,
  ...(ephemeral && { ephemeral }),
  messageCount,
  said: messageCount,
  attached: {},
});
