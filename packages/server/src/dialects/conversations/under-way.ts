/** Which conversations go on to a new socket without being asked for. */
import type { Principal } from '@parlance/protocol';
import type { Engine, SessionRef } from '../../core/engine.ts';

/** The user's own conversations, begun in this dialect, that are running or wait for an approval. */
export async function* ownUnderWay(engine: Engine, principal: Principal): AsyncGenerator<SessionRef> {
  // Listed as an owner: an admin's list would be everyone's.
  const owner: Principal = { ...principal, role: 'user' };
  let cursor: string | undefined;
  do {
    const page = await engine.list(owner, {
      limit: 100,
      cursor,
      status: ['running', 'waiting'],
      archived: 'included',
    });
    for (const { ref, dialect } of page.sessions) if (dialect === 'conversations') yield ref;
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
}
