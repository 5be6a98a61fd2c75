export type Revocation = { readonly id: string; readonly until: number };

/** Tokens that were revoked before they expired. */
export interface RevocationStore {
  /** The token expires at `until` (in milliseconds) and may be forgotten then. Durable when it resolves. */
  add(id: string, until: number): Promise<void>;
  has(id: string): Promise<boolean>;
  /** Those that have not expired, in any order. */
  list(): Promise<readonly Revocation[]>;
  /**
   * Calls `changed` when users, API keys or revocations may have changed: at once for users that were changed and keys that
   * were removed through this store, within half a second for changes of another process. Returns what ends it; closing the store ends it, too.
   */
  follow(changed: () => void): () => void;
  /**
   * Whether what was read may be kept until `follow` reports a change. For stores where reading costs a round trip; false
   * while changes would not be noticed in time. Undefined: read again each time.
   */
  readonly mayKeep?: () => boolean;
}
