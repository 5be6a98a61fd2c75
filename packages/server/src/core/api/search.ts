/** Full-text search over the messages of the caller's own sessions. */
import { type Principal, requirePermission } from '@parlance/protocol';
import { messageText } from '../../lib/message-text.ts';
import { type ExcerptPart, excerpt } from '../domain/excerpt.ts';
import { parseSearch } from '../domain/search-query.ts';
import type { SearchHit, SearchTerm } from '../ports/message-search.ts';
import type { EngineInternals } from './engine-internals.ts';

export type FoundMessage = SearchHit & {
  readonly at: number;
  readonly from: 'user' | 'agent' | 'history';
  readonly excerpt: readonly ExcerptPart[];
};

export type FoundPage = {
  readonly messages: readonly FoundMessage[];
  readonly next: string | null;
  /** false if some messages are not indexed yet; a later search may find more */
  readonly complete: boolean;
};

export type SearchRequest = { readonly text: string; readonly limit: number; readonly cursor?: string };

/** Maximum number of events to index before a search, if the index is behind. */
const MAX_INDEXED = 5_000;

const FROM = { 'input.accepted': 'user', 'text.ended': 'agent', 'history.imported': 'history' } as const;

export function searching({ parts: { store, search } }: EngineInternals) {
  /** Null if the session has been erased. */
  async function shown(hit: SearchHit, terms: readonly SearchTerm[]): Promise<FoundMessage | null> {
    const [event] = await store.read(hit.ref, hit.seq - 1, 1);
    const text = event && messageText(event);
    if (!event || !text) return null;
    const from = FROM[event.type as keyof typeof FROM];
    return { ...hit, at: event.at, from, excerpt: excerpt(text, terms) };
  }

  return {
    async search(principal: Principal, { text, ...page }: SearchRequest): Promise<FoundPage> {
      requirePermission(principal, 'chat:read');
      const terms = parseSearch(text);
      if (!search || terms.length === 0) return { messages: [], next: null, complete: true };
      const complete = await search.update(MAX_INDEXED, principal.id);
      const { hits, next } = await search.find({ ...page, terms, owner: principal.id });
      const messages = await Promise.all(hits.map((hit) => shown(hit, terms)));
      return { messages: messages.filter((message) => message !== null), next, complete };
    },
  };
}
