/**
 * Full-text search over the messages of sessions. The index follows the log: it is brought up to date by `update`, not by
 * appends, so that appends cost nothing and an older database needs no rebuild of its own. `stores/contract/search.ts`
 * tests every promise made here.
 */
import type { PrincipalId } from '@parlance/protocol';
import type { SessionRef } from './session-ref.ts';

/** Words that follow each other, as `lib/words.ts` has them. */
export type SearchTerm = {
  readonly words: readonly string[];
  /** the last word may be the beginning of one */
  readonly prefix: boolean;
};

export type SearchQuery = {
  readonly owner: PrincipalId;
  /** a message has all of them; there is at least one */
  readonly terms: readonly SearchTerm[];
  readonly limit: number;
  /** `next` of the previous page */
  readonly cursor?: string;
};

export type SearchHit = {
  readonly ref: SessionRef;
  readonly title: string;
  readonly archived: boolean;
  /** the number of the event with the message */
  readonly seq: number;
};

export type SearchPage = { readonly hits: readonly SearchHit[]; readonly next: string | null };

export interface MessageSearch {
  /**
   * Adds messages that were appended since, reading about `most` events; of one owner, or of everyone. True if nothing is
   * left to add. Messages of ephemeral sessions are not added. A session that cannot be read is passed over.
   */
  update(most: number, owner?: PrincipalId): Promise<boolean>;
  /** The latest messages first. Erased sessions are not found. */
  find(query: SearchQuery): Promise<SearchPage>;
}
