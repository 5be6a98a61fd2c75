/**
 * Full-text search with FTS5. The index contains words only; the text is in the events. The id of a message
 * is derived from its time, so that FTS5 returns the latest messages first without sorting.
 */

import type { Database } from 'bun:sqlite';
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

import {
  type IndexedMessage,
  indexedMessages,
  ownerMark,
  type TurnChange,
  turnChanges,
  withWholeInputs,
} from '../shared/indexing.ts';
import { decodeSearchCursor, encodeSearchCursor, rowLimit } from '../shared/paging.ts';
import { storable, storableRef } from '../shared/text.ts';

/** Messages per millisecond before ids get ahead of time. */
const IDS_PER_MS = 1_024;
/** Number of events per read; other statements run between two reads. */
const BATCH = 200;

const Unindexed = z.object({
  row: z.number(),
  owner: PrincipalId,
  id: SessionId,
  head: z.number(),
  indexed: z.number(),
});
type Unindexed = z.infer<typeof Unindexed>;

const Hit = z.object({
  message: z.number(),
  owner: PrincipalId,
  id: SessionId,
  title: z.string(),
  archived: z.number(),
  seq: z.number(),
});

type Read = (ref: SessionRef, after: number, limit: number) => DurableEvent[];

export function prepareSearch(
  database: Database,
  read: Read,
  recordTurns: ReturnType<typeof prepareTurns>['record'],
) {
  const select = (where: string) =>
    `SELECT row, owner, id, head, indexed FROM sessions WHERE indexed < head AND ephemeral = 0 ${where} LIMIT 1`;
  const anyone = database.prepare<unknown, []>(select(''));
  const ofOwner = database.prepare<unknown, [string]>(select('AND owner = ?'));
  const lastId = database.prepare<{ id: number | null }, [number, number]>(
    'SELECT max(id) AS id FROM messages WHERE id >= ? AND id < ?',
  );
  const insert = database.prepare<unknown, [number, number, number]>(
    'INSERT INTO messages (id, session, seq) VALUES (?, ?, ?)',
  );
  const insertWords = database.prepare<unknown, [number, string, string]>(
    'INSERT INTO message_words (rowid, owner, words) VALUES (?, ?, ?)',
  );
  const advance = database.prepare<unknown, [number, number]>(
    'UPDATE sessions SET indexed = ? WHERE row = ?',
  );
  const match = database.prepare<unknown, [string, number, string, number]>(`
    SELECT messages.id AS message, sessions.owner AS owner, sessions.id AS id, title, archived, seq
    FROM message_words(?) AS found
      JOIN messages ON messages.id = found.rowid JOIN sessions ON sessions.row = messages.session
    WHERE found.rowid < ? AND sessions.owner = ?
    ORDER BY found.rowid DESC LIMIT ?`);

  const freeId = (from: number): number => {
    for (let base = from; ; base += IDS_PER_MS) {
      const id = (lastId.get(base, base + IDS_PER_MS)?.id ?? base - 1) + 1;
      if (id < base + IDS_PER_MS) return id;
    }
  };

  function add({ row, owner }: Unindexed, { at, seq, words }: IndexedMessage): void {
    const id = freeId(at * IDS_PER_MS);
    insert.run(id, row, seq);
    insertWords.run(id, ownerMark(owner), words.join(' '));
  }

  /** Indexes events of the next outdated session; returns their number, or 0. */
  const indexNext = database.transaction((owner: PrincipalId | undefined): number => {
    const found = owner === undefined ? anyone.get() : ofOwner.get(storable(owner));
    if (!found) return 0;
    const session = Unindexed.parse(found);
    const { row, owner: name, id, indexed } = session;
    const events = withWholeInputs(readable(() => read({ owner: name, id }, indexed, BATCH)));
    for (const message of indexedMessages(events)) add(session, message);
    recordTurns(row, name, turnChanges(events));
    advance.run(events.at(-1)?.seq ?? session.head, row);
    return Math.max(1, events.length);
  }).immediate;

  return {
    update(max: number, owner?: PrincipalId): boolean {
      for (let left = max; left > 0; ) {
        const indexed = indexNext(owner);
        if (indexed === 0) return true;
        left -= indexed;
      }
      return false;
    },

    find({ owner, terms, limit: requested, cursor }: SearchQuery): SearchPage {
      const limit = rowLimit(requested);
      const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : decodeSearchCursor(cursor).at;
      const text = `owner : ${ownerMark(owner)} AND words : (${terms.map(expression).join(' AND ')})`;
      const found = match.all(text, before, storable(owner), limit + 1).map((row) => Hit.parse(row));
      const page = found.slice(0, limit);
      const last = page.at(-1);
      return {
        hits: page.map(({ owner, id, title, archived, seq }) => ({
          ref: { owner, id },
          title,
          archived: archived !== 0,
          seq,
        })),
        next: last && found.length > limit ? encodeSearchCursor({ at: last.message, row: 0, seq: 0 }) : null,
      };
    },
  };
}

/** Skips a damaged event; the others can be found. */
function readable(read: () => DurableEvent[]): DurableEvent[] {
  try {
    return read();
  } catch {
    return [];
  }
}

/** Words contain only letters, digits and `_`, so quoting is safe. */
const expression = ({ words, prefix }: SearchTerm): string => `"${words.join(' ')}"${prefix ? '*' : ''}`;

// The index of turns.

const TurnRow = z.object({
  row: z.number(),
  owner: PrincipalId,
  session: SessionId,
  id: TurnId,
  state: z.enum(['queued', 'working', 'waiting', 'ended', 'failed', 'cancelled']),
  at: z.number(),
  first: z.number(),
  last: z.number(),
});

const SELECT_TURN = `
  SELECT turns.session AS row, turns.owner AS owner, sessions.id AS session, turns.id AS id, state, at,
    first_seq AS first, last_seq AS last
  FROM turns JOIN sessions ON sessions.row = turns.session`;

type Values = Record<string, string | number>;

function turnConditions({ owner, session, state, since }: TurnFilter) {
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
    `${SELECT_TURN} WHERE sessions.owner = ? AND sessions.id = ? AND turns.id = ?`,
  );

  return {
    /** Call it inside a transaction. */
    record(session: number, owner: PrincipalId, changes: readonly TurnChange[]): void {
      for (const { id, ...change } of changes)
        upsert.run({ ...change, session, id: storable(id), owner: storable(owner) });
    },

    list({ limit: requested, cursor, ...filter }: TurnQuery): TurnPage {
      const limit = rowLimit(requested);
      const { conditions, values } = turnConditions(filter);
      if (cursor !== undefined) {
        conditions.push('(at, turns.session, last_seq) < ($cursorAt, $cursorRow, $cursorSeq)');
        const { at, row, seq } = decodeSearchCursor(cursor);
        Object.assign(values, { cursorAt: at, cursorRow: row, cursorSeq: seq });
      }
      const statement = database.query<unknown, [Values]>(
        `${SELECT_TURN} WHERE ${conditions.join(' AND ')}
         ORDER BY at DESC, turns.session DESC, last_seq DESC LIMIT $limit`,
      );
      const found = statement.all({ ...values, limit: limit + 1 }).map((row) => TurnRow.parse(row));
      const page = found.slice(0, limit);
      const last = page.at(-1);
      const more = last && found.length > limit;
      return {
        turns: page.map(turnOf),
        next: more ? encodeSearchCursor({ at: last.at, row: last.row, seq: last.last }) : null,
      };
    },

    count(filter: TurnFilter): number {
      const { conditions, values } = turnConditions(filter);
      const statement = database.query<{ count: number }, [Values]>(
        `SELECT count(*) AS count FROM turns JOIN sessions ON sessions.row = turns.session
         WHERE ${conditions.join(' AND ')}`,
      );
      return statement.get(values)?.count ?? 0;
    },

    find(ref: SessionRef, id: TurnId): IndexedTurn | null {
      const { owner, id: session } = storableRef(ref);
      const found = select.get(owner, session, storable(id));
      return found ? turnOf(TurnRow.parse(found)) : null;
    },
  };
}

const turnOf = ({ owner, session, row: _row, ...turn }: z.infer<typeof TurnRow>): IndexedTurn => ({
  ...turn,
  ref: { owner, id: session },
});
