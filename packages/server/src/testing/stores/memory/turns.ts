/** The turns of sessions without an index: every event of the owner is read. */
import type { DurableEvent, TurnId } from '@parlance/protocol';
import type {
  IndexedTurn,
  SessionRecord,
  SessionRef,
  TurnFilter,
  TurnPage,
  TurnQuery,
} from '../../../core/ports/event-store.ts';

import { turnChanges } from '../../../stores/shared/indexing.ts';
import { decodeSearchCursor, encodeSearchCursor } from '../../../stores/shared/paging.ts';
import { storable, storableRef } from '../../../stores/shared/text.ts';

type Session = { readonly row: number; readonly record: SessionRecord };
type Found = IndexedTurn & { readonly row: number };

export function memoryTurns(
  sessions: () => Iterable<Session>,
  read: (session: Session) => readonly DurableEvent[],
) {
  const turnsOf = (session: Session): Found[] =>
    turnChanges(read(session)).map(({ waiting: _waiting, ...turn }) => ({
      ...turn,
      id: storable(turn.id) as TurnId,
      ref: session.record.ref,
      row: session.row,
    }));

  function select({ owner, session, state, since }: TurnFilter): Found[] {
    const isWanted = ({ record: { ref, archived, ephemeral } }: Session) =>
      ref.owner === storable(owner) &&
      !ephemeral &&
      (session === undefined ? !archived : ref.id === storable(session));
    return [...sessions()]
      .filter(isWanted)
      .flatMap(turnsOf)
      .filter((turn) => (state ?? turn.state) === turn.state && (since === undefined || turn.at > since))
      .sort(latestFirst);
  }

  return {
    list({ limit, cursor, ...filter }: TurnQuery): TurnPage {
      const after = cursor === undefined ? null : decodeSearchCursor(cursor);
      const found = select(filter).filter(
        (turn) => !after || latestFirst({ ...after, last: after.seq }, turn) < 0,
      );
      const page = found.slice(0, limit);
      const last = page.at(-1);
      const more = last && found.length > limit;
      return {
        turns: page.map(({ row: _row, ...turn }) => turn),
        next: more ? encodeSearchCursor({ at: last.at, row: last.row, seq: last.last }) : null,
      };
    },

    count: (filter: TurnFilter): number => select(filter).length,

    find(ref: SessionRef, id: TurnId): IndexedTurn | null {
      const { owner, id: session } = storableRef(ref);
      const found = select({ owner, session }).find((turn) => turn.id === storable(id));
      if (!found) return null;
      const { row: _row, ...turn } = found;
      return turn;
    },
  };
}

const latestFirst = (
  one: Pick<Found, 'at' | 'row' | 'last'>,
  other: Pick<Found, 'at' | 'row' | 'last'>,
): number => other.at - one.at || other.row - one.row || other.last - one.last;
