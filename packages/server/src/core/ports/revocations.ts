/**
 * How long revocations are kept after their tokens have expired: a clock that was ahead for a while must not
 * make revoked tokens valid again.
 */
export const KEPT_AFTER_EXPIRY_MS = 30 * 24 * 3_600_000;

export type Revocation = { readonly id: string; readonly until: number };

/** Tokens revoked before they expire. */
export interface RevocationStore {
  /** The token expires at `until` (in milliseconds) and may be dropped then. Durable when it resolves. */
  add(id: string, until: number): Promise<void>;
  has(id: string): Promise<boolean>;
  /** Revocations that have not expired, in any order. */
  list(): Promise<readonly Revocation[]>;
  /**
   * Calls `changed` when users, API keys or revocations may have changed: immediately for changes made
   * through this store, within half a second for changes of another process. Returns a function that ends
   * this; closing the store ends it as well.
   */
  follow(changed: () => void): () => void;
  /**
   * Whether reads may be cached until `follow` reports a change, for stores with a round trip per read; false
   * while changes might not be noticed in time. Undefined: do not cache.
   */
  readonly mayKeep?: () => boolean;
}
