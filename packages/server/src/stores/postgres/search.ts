/** Full-text search with tsvector. The index contains words only; the text is in the events. */
import { type DurableEvent, PrincipalId, SessionId } from '@parlance/protocol';
import { z } from 'zod';
import type { SessionRef } from '../../core/ports/event-store.ts';
import type { SearchPage, SearchQuery, SearchTerm } from '../../core/ports/message-search.ts';
import { rowLimit } from '../shared/limit.ts';
import { decodeSearchCursor, encodeSearchCursor } from '../shared/search-cursor.ts';
import { indexedMessages, ownerMark } from '../shared/search-words.ts';
import { storable } from '../shared/text.ts';
import { turnChanges, withWholeInputs } from '../shared/turn-changes.ts';
import type { Statements } from './database.ts';
import { RECORD_TURNS } from './turns.ts';

/** Number of events per read. */
const BATCH = 200;

const BigInteger = z.coerce.number();
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
