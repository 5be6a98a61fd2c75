/** The index of turns. */
import type { Database } from 'bun:sqlite';
import { PrincipalId, SessionId, TurnId } from '@parlance/protocol';
import { z } from 'zod';
import type { SessionRef } from '../../core/ports/event-store.ts';
import type { IndexedTurn, TurnFilter, TurnPage, TurnQuery } from '../../core/ports/turn-index.ts';
import { rowLimit } from '../shared/limit.ts';
import { decodeSearchCursor, encodeSearchCursor } from '../shared/search-cursor.ts';
import { storable, storableRef } from '../shared/text.ts';
import type { TurnChange } from '../shared/turn-changes.ts';

const Row = z.object({
  row: z.number(),
  owner: PrincipalId,
  session: SessionId,
  id: TurnId,
  state: z.enum(['queued', 'working', 'waiting', 'ended', 'failed', 'cancelled']),
  at: z.number(),
  first: z.number(),
  last: z.number(),
});

const SELECT = `
  SELECT turns.session AS row, turns.owner AS owner, sessions.id AS session, turns.id AS id, state, at,
    first_seq AS first, last_seq AS last
  FROM turns JOIN sessions ON sessions.row = turns.session`;

type Values = Record<string, string | number>;

function conditionsOf({ owner, session, state, since }: TurnFilter) {
  const values: Values = { owner: storable(owner) };
  const conditions: string[] = [];
  if (session === undefined) conditions.push('turns.owner = $owner', 'archived = 0');
  else {
    conditions.push('turns.session = (SELECT row FROM sessions WHERE owner = $owner AND id = $session)');
    values.session = storable(session);
  }
  if (state !== undefined) {
    conditions.push('state = $state');
    values.state = state;
  }
  if (since !== undefined) {
    conditions.push('at > $since');
    values.since = since;
  }
  return { conditions, values };
}

export function prepareTurns(database: Database) {
  const upsert = database.prepare<unknown, [Values]>(`
    INSERT INTO turns (session, id, owner, state, at, first_seq, last_seq, waiting)
    VALUES ($session, $id, $owner, $state, $at, $first, $last, $waiting)
    ON CONFLICT (session, id) DO UPDATE SET
      state = CASE
        WHEN excluded.state NOT IN ('working', 'waiting') THEN excluded.state
        WHEN waiting + excluded.waiting > 0 THEN 'waiting'
        ELSE 'working'
      END,
      at = excluded.at, last_seq = excluded.last_seq, waiting = max(0, waiting + excluded.waiting)`);
  const select = database.prepare<unknown, [string, string, string]>(
    `${SELECT} WHERE sessions.owner = ? AND sessions.id = ? AND turns.id = ?`,
  );

  return {
    /** Call it inside a transaction. */
    record(session: number, owner: PrincipalId, changes: readonly TurnChange[]): void {
      for (const { id, ...change } of changes)
        upsert.run({ ...change, session, id: storable(id), owner: storable(owner) });
    },

    list({ limit: requested, cursor, ...filter }: TurnQuery): TurnPage {
      const limit = rowLimit(requested);
      const { conditions, values } = conditionsOf(filter);
      if (cursor !== undefined) {
        conditions.push('(at, turns.session, last_seq) < ($cursorAt, $cursorRow, $cursorSeq)');
        const { at, row, seq } = decodeSearchCursor(cursor);
        Object.assign(values, { cursorAt: at, cursorRow: row, cursorSeq: seq });
      }
      const statement = database.query<unknown, [Values]>(
        `${SELECT} WHERE ${conditions.join(' AND ')}
         ORDER BY at DESC, turns.session DESC, last_seq DESC LIMIT $limit`,
      );
      const found = statement.all({ ...values, limit: limit + 1 }).map((row) => Row.parse(row));
      const page = found.slice(0, limit);
      const last = page.at(-1);
      const more = last && found.length > limit;
      return {
        turns: page.map(turnOf),
        next: more ? encodeSearchCursor({ at: last.at, row: last.row, seq: last.last }) : null,
      };
    },

    count(filter: TurnFilter): number {
      const { conditions, values } = conditionsOf(filter);
      const statement = database.query<{ count: number }, [Values]>(
        `SELECT count(*) AS count FROM turns JOIN sessions ON sessions.row = turns.session
         WHERE ${conditions.join(' AND ')}`,
      );
      return statement.get(values)?.count ?? 0;
    },

    find(ref: SessionRef, id: TurnId): IndexedTurn | null {
      const { owner, id: session } = storableRef(ref);
      const found = select.get(owner, session, storable(id));
      return found ? turnOf(Row.parse(found)) : null;
    },
  };
}

export const turnOf = ({ owner, session, row: _row, ...turn }: z.infer<typeof Row>): IndexedTurn => ({
  ...turn,
  ref: { owner, id: session },
});
