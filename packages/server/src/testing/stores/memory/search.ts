/** Full-text search without an index: reads all messages of the owner. */
import type { DurableEvent } from '@parlance/protocol';
import type { SearchQuery, SearchTerm, SessionRecord } from '../../../core/ports/event-store.ts';

import { type IndexedMessage, indexedMessages } from '../../../stores/shared/indexing.ts';
import { decodeSearchCursor, encodeSearchCursor } from '../../../stores/shared/paging.ts';
import { storable } from '../../../stores/shared/text.ts';

type Found = IndexedMessage & { readonly row: number; readonly record: SessionRecord };
type Session = { readonly row: number; readonly record: SessionRecord };

export const memorySearch =
  (sessions: () => Iterable<Session>, read: (session: Session) => DurableEvent[]) =>
  ({ owner, terms, limit, cursor }: SearchQuery) => {
    const after = cursor === undefined ? null : decodeSearchCursor(cursor);
    const found = [...sessions()]
      .filter(({ record }) => record.ref.owner === storable(owner) && !record.ephemeral)
      .flatMap((session) => indexedMessages(read(session)).map((message) => ({ ...message, ...session })))
      .filter(({ words }) => terms.every((term) => has(words, term)))
      .sort(latestFirst)
      .filter((message) => after === null || latestFirst(after, message) < 0);
    const page = found.slice(0, limit);
    const last = page.at(-1);
    return {
      hits: page.map(({ record: { ref, title, archived }, seq }) => ({ ref, title, archived, seq })),
      next: last && found.length > limit ? encodeSearchCursor(last) : null,
    };
  };

type Position = Pick<Found, 'at' | 'row' | 'seq'>;

const latestFirst = (one: Position, other: Position): number =>
  other.at - one.at || other.row - one.row || other.seq - one.seq;

const has = (words: readonly string[], { words: wanted, prefix }: SearchTerm): boolean =>
  words.some((_, start) =>
    wanted.every((word, index) => {
      const there = words[start + index];
      return prefix && index === wanted.length - 1 ? there?.startsWith(word) : there === word;
    }),
  );
