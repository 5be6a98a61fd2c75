/**
 * Full-text search over messages. `update` brings the index up to date with the log, not appends: appends
 * cost nothing extra, and an older database needs no rebuild. Contract tests: `testing/stores/contract/search.ts`.
 */
import type { PrincipalId } from '@parlance/protocol';
import type { SessionRef } from './session-ref.ts';

/** Consecutive words, as split by `lib/words.ts`. */
export type SearchTerm = {
  readonly words: readonly string[];
  /** the last word may be a prefix */
  readonly prefix: boolean;
};

export type SearchQuery = {
  readonly owner: PrincipalId;
  /** a message must match all of them; at least one */
  readonly terms: readonly SearchTerm[];
  readonly limit: number;
  /** `next` of the previous page */
  readonly cursor?: string;
};

export type SearchHit = {
  readonly ref: SessionRef;
  readonly title: string;
  readonly archived: boolean;
  /** number of the event with the message */
  readonly seq: number;
};

export type SearchPage = { readonly hits: readonly SearchHit[]; readonly next: string | null };

export interface MessageSearch {
  /**
   * Indexes messages and turns appended since the last call, reading about `most` events, of one owner or of all.
   * True if the index is complete. Leaves out ephemeral sessions and skips sessions that cannot be read.
   */
  update(max: number, owner?: PrincipalId): Promise<boolean>;
  /** Latest messages first, without erased sessions. */
  find(query: SearchQuery): Promise<SearchPage>;
}
