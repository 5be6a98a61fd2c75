/**
 * Full-text search with FTS5. The index contains words only; the text is in the events. The id of a message
 * is derived from its time, so that FTS5 returns the latest messages first without sorting.
 */

import type { Database } from 'bun:sqlite';
import type { DurableEvent, PrincipalId } from '@parlance/protocol';
import type { z } from 'zod';
import type { SearchPage, SearchQuery, SearchTerm, SessionRef } from '../../core/ports/event-store.ts';
import {
  BATCH,
  CHANGE_TURN,
  hitIn,
  type IndexedMessage,
  indexedMessages,
  ownerMark,
  type TurnChange,
  turnChanges,
  UnindexedSession,
  withWholeInputs,
} from '../shared/indexing.ts';
import { decodeSearchCursor, encodeSearchCursor, pageOf, rowLimit } from '../shared/paging.ts';
import { storable } from '../shared/text.ts';

/** Messages per millisecond before ids get ahead of time. */
const IDS_PER_MS = 1_024;

type Read = (ref: SessionRef, after: number, limit: number) => DurableEvent[];

export function prepareSearch(database: Database, read: Read) {
  const recordTurns = prepareRecordTurns(database);
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
  const match = database.prepare<{ message: number }, [string, number, string, number]>(`
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

  function add({ row, owner }: z.infer<typeof UnindexedSession>, { at, seq, words }: IndexedMessage): void {
    const id = freeId(at * IDS_PER_MS);
    insert.run(id, row, seq);
    insertWords.run(id, ownerMark(owner), words.join(' '));
  }

  /** Indexes events of the next outdated session; returns their number, or 0. */
  const indexNext = database.transaction((owner: PrincipalId | undefined): number => {
    const found = owner === undefined ? anyone.get() : ofOwner.get(storable(owner));
    if (!found) return 0;
    const session = UnindexedSession.parse(found);
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
      const found = match.all(text, before, storable(owner), limit + 1);
      const { page, next } = pageOf(found, limit, ({ message }) =>
        encodeSearchCursor({ at: message, row: 0, seq: 0 }),
      );
      return { hits: page.map(hitIn), next };
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

/** Updates the index of turns. Call the result inside a transaction. */
function prepareRecordTurns(database: Database) {
  const upsert = database.prepare<unknown, [Record<string, string | number>]>(`
    INSERT INTO turns (session, id, owner, state, at, first_seq, last_seq, waiting)
    VALUES ($session, $id, $owner, $state, $at, $first, $last, $waiting)
    ${CHANGE_TURN}`);
  return (session: number, owner: PrincipalId, changes: readonly TurnChange[]): void => {
    for (const { id, ...change } of changes)
      upsert.run({ ...change, session, id: storable(id), owner: storable(owner) });
  };
}
