/** Full-text search with tsvector. The index contains words only; the text is in the events. */

import type { DurableEvent, PrincipalId } from '@parlance/protocol';
import type { SearchPage, SearchQuery, SearchTerm, SessionRef } from '../../core/ports/event-store.ts';
import {
  BATCH,
  CHANGE_TURN,
  hitIn,
  indexedMessages,
  ownerMark,
  turnChanges,
  UnindexedSession,
  withWholeInputs,
} from '../shared/indexing.ts';
import { decodeSearchCursor, encodeSearchCursor, pageOf, rowLimit } from '../shared/paging.ts';
import { storable, storableOrNull } from '../shared/text.ts';
import type { Statements } from './database.ts';

/**
 * Part of the statement that indexes events of one session: `held` is its row, $7 the owner, $8–$13 the
 * changes.
 */
const RECORD_TURNS = `
    INSERT INTO turns (session, owner, id, state, at, first_seq, last_seq, waiting)
    SELECT held.row, $7, change.id, change.state, change.at, change.first_seq, change.last_seq, change.waiting
    FROM held, unnest($8::text[], $9::text[], $10::bigint[], $11::bigint[], $12::bigint[], $13::int[])
      AS change (id, state, at, first_seq, last_seq, waiting)
    ${CHANGE_TURN}`;

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
      [storableOrNull(owner)],
    );
    if (!found) return 0;
    const { row, head, indexed, ...ref } = UnindexedSession.parse(found);
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
      const { page, next } = pageOf(rows, limit, (last) =>
        encodeSearchCursor({ at: Number(last.at), row: Number(last.row), seq: Number(last.seq) }),
      );
      return { hits: page.map(hitIn), next };
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
