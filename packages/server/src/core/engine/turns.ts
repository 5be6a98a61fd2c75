/** The turns of the caller's own sessions. */
import { type Principal, type PrincipalId, requirePermission, type TurnId } from '@parlance/protocol';
import type { IndexedTurn, SessionRef, TurnPage, TurnQuery } from '../ports/event-store.ts';

import type { EngineInternals } from './engine-internals.ts';

/** Events that are indexed at once if the index is behind. */
const MAX_INDEXED = 5_000;

export type CountedTurns = TurnPage & {
  /** on all pages */
  readonly total: number;
};

export function turnQueries({ parts: { search, turns: index } }: EngineInternals) {
  /** Each event is indexed once: that is a little work, unless the index is new. */
  async function update(owner: PrincipalId): Promise<void> {
    while (search && !(await search.update(MAX_INDEXED, owner)));
  }

  return {
    async turns(principal: Principal, query: Omit<TurnQuery, 'owner'>): Promise<CountedTurns> {
      requirePermission(principal, 'chat:read');
      if (!index) return { turns: [], next: null, total: 0 };
      const { limit, cursor, ...filter } = { ...query, owner: principal.id };
      await update(principal.id);
      const page = await index.list({ ...filter, limit, cursor });
      return { ...page, total: await index.count(filter) };
    },

    async turn(ref: SessionRef, id: TurnId): Promise<IndexedTurn | null> {
      if (!index) return null;
      await update(ref.owner);
      return index.find(ref, id);
    },
  };
}
