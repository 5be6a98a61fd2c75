/** Full-text search with tsvector. The index contains words only; the text is in the events. */

import { type DurableEvent, PrincipalId, SessionId, TurnId } from '@parlance/protocol';
import { z } from 'zod';
import type {
  IndexedTurn,
  SearchPage,
  SearchQuery,
  SearchTerm,
  SessionRef,
  TurnFilter,
  TurnPage,
  TurnQuery,
} from '../../core/ports/event-store.ts';

import { indexedMessages, ownerMark, turnChanges, withWholeInputs } from '../shared/indexing.ts';
import { decodeSearchCursor, encodeSearchCursor, rowLimit } from '../shared/paging.ts';
import { storable, storableRef } from '../shared/text.ts';
import type { Statements } from './database.ts';
import { Values } from './lists.ts';
import { BigInteger, bucketOf } from './sessions.ts';

/** Number of events per read. */
const BATCH = 200;

const Unindexed = z.object({
  row: BigInteger,
  owner: PrincipalId,
  id: SessionId,
  head: BigInteger,
  indexed: BigInteger,
});
const Hit = z.object({
  row: BigInteger,
  at: BigInteger,
  seq: BigInteger,
  owner: PrincipalId,
  id: SessionId,
  title: z.string(),
  archived: z.boolean(),
});

/**
 * Part of the statement that indexes events of one session: `held` is its row, $7 the owner, $8–$13 the
 * changes.
 */
const RECORD_TURNS = `
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

/**
 * Locks the row of the session, so that messages indexed by another node are not added again, and nothing is
 * added to a session being erased.
 */
const INDEX = `
  WITH held AS MATERIALIZED (
    SELECT row FROM sessions WHERE row = $1 AND indexed = $2 FOR UPDATE
  ), added AS (
    INSERT INTO messages (session, seq, at, words)
    SELECT held.row, message.seq, message.at, message.words::tsvector
    FROM held, unnest($4::bigint[], $5::bigint[], $6::text[]) AS message (seq, at, words)
  ), changed AS (${RECORD_TURNS}
  )
  UPDATE sessions SET indexed = $3 FROM held WHERE sessions.row = held.row`;

type Read = (ref: SessionRef, after: number, limit: number) => Promise<DurableEvent[]>;

export function prepareSearch(database: Statements, read: Read) {
  /** Indexes events of the next outdated session; resolves with their number, or 0. */
  async function indexNext(owner: PrincipalId | undefined): Promise<number> {
    const [found] = await database.query(
      `SELECT row, owner, id, head, indexed FROM sessions
       WHERE indexed < head AND NOT ephemeral AND ($1::text IS NULL OR owner = $1) LIMIT 1`,
      [owner === undefined ? null : storable(owner)],
    );
    if (!found) return 0;
    const { row, head, indexed, ...ref } = Unindexed.parse(found);
    // Skips a damaged event; the others can be found.
    const events = withWholeInputs(await read(ref, indexed, BATCH).catch(() => []));
    const messages = indexedMessages(events);
    const turns = turnChanges(events);
    const mark = ownerMark(ref.owner);
    await database.query(INDEX, [
      row,
      indexed,
      events.at(-1)?.seq ?? head,
      messages.map(({ seq }) => seq),
      messages.map(({ at }) => at),
      messages.map(({ words }) => vectorOf(words, mark)),
      storable(ref.owner),
      turns.map(({ id }) => storable(id)),
      turns.map(({ state }) => state),
      turns.map(({ at }) => at),
      turns.map(({ first }) => first),
      turns.map(({ last }) => last),
      turns.map(({ waiting }) => waiting),
    ]);
    return Math.max(1, events.length);
  }

  return {
    async update(max: number, owner?: PrincipalId): Promise<boolean> {
      for (let left = max; left > 0; ) {
        const indexed = await indexNext(owner);
        if (indexed === 0) return true;
        left -= indexed;
      }
      return false;
    },

    async find({ owner, terms, limit: requested, cursor }: SearchQuery): Promise<SearchPage> {
      const limit = rowLimit(requested);
      const { at, row, seq } =
        cursor === undefined ? { at: Number.MAX_SAFE_INTEGER, row: 0, seq: 0 } : decodeSearchCursor(cursor);
      const query = [`'@${ownerMark(owner)}'`, ...terms.map(expression)].join(' & ');
      const rows = await database.query(
        `SELECT session AS row, at, seq, owner, id, title, archived
         FROM messages JOIN sessions ON sessions.row = messages.session
         WHERE words @@ $1::tsquery AND owner = $2 AND (at, session, seq) < ($3::bigint, $4::bigint, $5::bigint)
         ORDER BY at DESC, session DESC, seq DESC LIMIT $6`,
        [query, storable(owner), at, row, seq, limit + 1],
      );
      const found = rows.map((row) => Hit.parse(row));
      const page = found.slice(0, limit);
      const last = page.at(-1);
      return {
        hits: page.map(({ owner, id, title, archived, seq }) => ({
          ref: { owner, id },
          title,
          archived,
          seq,
        })),
        next: last && found.length > limit ? encodeSearchCursor(last) : null,
      };
    },
  };
}

/** PostgreSQL treats higher positions as equal. */
const LAST_POSITION = 16_383;

/** Words contain only letters, digits and `_`, so quoting is safe. */
const vectorOf = (words: readonly string[], mark: string): string =>
  [`'@${mark}'`, ...words.map((word, index) => `'${word}':${Math.min(index + 1, LAST_POSITION)}`)].join(' ');

const expression = ({ words, prefix }: SearchTerm): string =>
  `(${words.map((word) => `'${word}'`).join(' <-> ')}${prefix ? ':*' : ''})`;

// The index of turns.

const TurnRow = z.object({
  row: BigInteger,
  owner: PrincipalId,
  session: SessionId,
  id: TurnId,
  state: z.enum(['queued', 'working', 'waiting', 'ended', 'failed', 'cancelled']),
  at: BigInteger,
  first: BigInteger,
  last: BigInteger,
});

const SELECT_TURN = `
  SELECT turns.session AS row, turns.owner, sessions.id AS session, turns.id, state, at,
    first_seq AS first, last_seq AS last
  FROM turns JOIN sessions ON sessions.row = turns.session`;

function turnConditions({ owner, session, state, since }: TurnFilter, values: Values): string[] {
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
      const conditions = turnConditions(filter, values);
      if (cursor !== undefined) {
        const { at, row, seq } = decodeSearchCursor(cursor);
        const position = [at, row, seq].map((value) => `${values.add(value)}::bigint`).join(', ');
        conditions.push(`(at, turns.session, last_seq) < (${position})`);
      }
      const rows = await database.query(
        `${SELECT_TURN} WHERE ${conditions.join(' AND ')}
         ORDER BY at DESC, turns.session DESC, last_seq DESC LIMIT ${values.add(limit + 1)}::bigint`,
        values.list,
      );
      const found = rows.map((row) => TurnRow.parse(row));
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
      const conditions = turnConditions(filter, values);
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
        `${SELECT_TURN} WHERE turns.id = $4 AND turns.session =
           (SELECT row FROM sessions WHERE bucket = $1 AND owner = $2 AND id = $3)`,
        [bucketOf(owner), owner, session, storable(id)],
      );
      return found ? turnOf(TurnRow.parse(found)) : null;
    },
  };
}

const turnOf = ({ owner, session, row: _row, ...turn }: z.infer<typeof TurnRow>): IndexedTurn => ({
  ...turn,
  ref: { owner, id: session },
});
