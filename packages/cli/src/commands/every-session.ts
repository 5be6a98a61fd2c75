/** Iterates over all sessions of a store that may be written to at the same time. */
import type { PrincipalId } from '@parlance/protocol';
import { type SessionIndex, type SessionRecord, sessionKey } from '@parlance/server/data';

/**
 * The list is ordered by change, so a session that changes during the iteration moves: repeat until none is
 * new.
 */
export async function* everySession(
  store: SessionIndex,
  owner: PrincipalId | undefined,
): AsyncGenerator<SessionRecord> {
  const seen = new Set<string>();
  for (let before = -1; before < seen.size; ) {
    before = seen.size;
    for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
      const page = await store.list({ owner, archived: 'included', limit: 100, cursor });
      for (const record of page.sessions) {
        const key = sessionKey(record.ref);
        if (!seen.has(key)) yield record;
        seen.add(key);
      }
      cursor = page.next ?? undefined;
    }
  }
}
