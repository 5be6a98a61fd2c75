/** The index of turns. */
import { PrincipalId, SessionId, TurnId } from '@parlance/protocol';
import { z } from 'zod';
import type { SessionRef } from '../../core/ports/event-store.ts';
import type { IndexedTurn, TurnFilter, TurnPage, TurnQuery } from '../../core/ports/turn-index.ts';
import { rowLimit } from '../shared/limit.ts';
import { decodeSearchCursor, encodeSearchCursor } from '../shared/search-cursor.ts';
import { storable, storableRef } from '../shared/text.ts';
import { bucketOf } from './bucket.ts';
import { Values } from './conditions.ts';
import type { Statements } from './database.ts';

const BigInteger = z.coerce.number();
const Row = z.object({
  row: BigInteger,
  owner: PrincipalId,
  session: SessionId,
  id: TurnId,
  state: z.enum(['queued', 'working', 'waiting', 'ended', 'failed', 'cancelled']),
  at: BigInteger,
  first: BigInteger,
  last: BigInteger,
});

const SELECT = `
  SELECT turns.session AS row, turns.owner, sessions.id AS session, turns.id, state, at,
    first_seq AS first, last_seq AS last
  FROM turns JOIN sessions ON sessions.row = turns.session`;

/**
 * Part of the statement that indexes events of one session (`search.ts`): `held` is its row, $7 the owner, $8–$13 the
 * changes.
 */
export const RECORD_TURNS = `
    INSERT INTO turns (session, owner, id, state, at, first_seq, last_seq, waiting)
    SELECT held.row, $7, change.id, change.state, change.at, change.first_seq, change.last_seq, change.waiting
    FROM held, unnest($8::text[], $9::text[], $10::bigint[], $11::bigint[], $12::bigint[], $13::int[])
      AS change (id, state, at, first_seq, last_seq, waiting)
    ON CONFLICT (session, id) DO UPDATE SET
      state = CASE
        WHEN excluded.state NOT IN ('working', 'waiting') THEN excluded.state
        WHEN turns.waiting + excluded.waiting > 0 THEN 'waiting'
        ELSE 'working'
      END,
      at = excluded.at, last_seq = excluded.last_seq, waiting = greatest(0, turns.waiting + excluded.waiting)`;

function conditionsOf({ owner, session, state, since }: TurnFilter, values: Values): string[] {
  const conditions: string[] = [];
  const name = storable(owner);
  if (session === undefined) conditions.push(`turns.owner = ${values.add(name)}`, 'NOT archived');
  else
    conditions.push(
      `turns.session = (SELECT row FROM sessions WHERE bucket = ${values.add(bucketOf(name))}
         AND owner = ${values.add(name)} AND id = ${values.add(storable(session))})`,
    );
  if (state !== undefined) conditions.push(`state = ${values.add(state)}`);
  if (since !== undefined) conditions.push(`at > ${values.add(since)}::bigint`);
  return conditions;
}

export function prepareTurns(database: Statements) {
  return {
    async list({ limit: requested, cursor, ...filter }: TurnQuery): Promise<TurnPage> {
      const limit = rowLimit(requested);
      const values = new Values();
      const conditions = conditionsOf(filter, values);
      if (cursor !== undefined) {
        const { at, row, seq } = decodeSearchCursor(cursor);
        const position = [at, row, seq].map((value) => `${values.add(value)}::bigint`).join(', ');
        conditions.push(`(at, turns.session, last_seq) < (${position})`);
      }
      const rows = await database.query(
        `${SELECT} WHERE ${conditions.join(' AND ')}
         ORDER BY at DESC, turns.session DESC, last_seq DESC LIMIT ${values.add(limit + 1)}::bigint`,
        values.list,
      );
      const found = rows.map((row) => Row.parse(row));
      const page = found.slice(0, limit);
      const last = page.at(-1);
      const more = last && found.length > limit;
      return {
        turns: page.map(turnOf),
        next: more ? encodeSearchCursor({ at: last.at, row: last.row, seq: last.last }) : null,
      };
    },

    async count(filter: TurnFilter): Promise<number> {
      const values = new Values();
      const conditions = conditionsOf(filter, values);
      const [found] = await database.query(
        `SELECT count(*) AS count FROM turns JOIN sessions ON sessions.row = turns.session
         WHERE ${conditions.join(' AND ')}`,
        values.list,
      );
      return Number(found?.count ?? 0);
    },

    async find(ref: SessionRef, id: TurnId): Promise<IndexedTurn | null> {
      const { owner, id: session } = storableRef(ref);
      const [found] = await database.query(
        `${SELECT} WHERE turns.id = $4 AND turns.session =
           (SELECT row FROM sessions WHERE bucket = $1 AND owner = $2 AND id = $3)`,
        [bucketOf(owner), owner, session, storable(id)],
      );
      return found ? turnOf(Row.parse(found)) : null;
    },
  };
}

const turnOf = ({ owner, session, row: _row, ...turn }: z.infer<typeof Row>): IndexedTurn => ({
  ...turn,
  ref: { owner, id: session },
});
