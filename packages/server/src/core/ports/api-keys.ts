/** Long-lived keys of users, for clients that cannot log in. Only their hashes are stored. */
import type { Role } from '@parlance/protocol';

export type ApiKey = {
  /** the public part of the key, by which it is found */
  readonly id: string;
  /** the user that the key acts as */
  readonly owner: string;
  /** what the owner calls it */
  readonly name: string;
  /** the most that the key grants; it never grants more than the owner's role at the time of use */
  readonly role: Role;
  /** the dialects that it may be used with; null: all */
  readonly dialects: readonly string[] | null;
  /** SHA-256 of the whole key, in hex */
  readonly hash: string;
  readonly createdAt: number;
  /** the time from which it is refused; null: never */
  readonly expiresAt: number | null;
  readonly lastUsedAt: number | null;
};

/** `stores/contract/api-keys.ts` tests every promise made here. */
export interface ApiKeyStore {
  find(id: string): Promise<ApiKey | null>;
  /** In the order in which they were made, then by id; of one owner, or of everyone. */
  list(owner?: string): Promise<ApiKey[]>;
  /**
   * Durable when it resolves with `added`. Writes nothing if the owner has `most` keys already, also while others are being
   * added, or if there is no such user. Ids must be unique.
   */
  add(key: ApiKey, most: number): Promise<'added' | 'too_many' | 'no_user'>;
  /**
   * False if there is no such key, or it is not the owner's, where one is given. Durable when it resolves, and
   * `RevocationStore.follow` reports it. Removing a user removes all keys of that user in the same write.
   */
  remove(id: string, owner?: string): Promise<boolean>;
  /** Records when keys were last used (id → time). An earlier time than the stored one and unknown ids change nothing. */
  used(times: ReadonlyMap<string, number>): Promise<void>;
}
