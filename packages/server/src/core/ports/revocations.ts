/** Tokens that were taken back before they expired, and word of what was changed. */
export interface RevocationStore {
  /** From `until` (in milliseconds) on the token is refused anyway, and may be forgotten. Durable when it resolves. */
  add(id: string, until: number): Promise<void>;
  has(id: string): Promise<boolean>;
  /**
   * Calls `changed` when users or revocations may have changed: at once for users that were changed through this store,
   * within half a second for whatever another process has written. Returns what ends it; so does closing the store.
   */
  follow(changed: () => void): () => void;
}
