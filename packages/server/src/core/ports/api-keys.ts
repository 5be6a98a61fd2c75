/** Long-lived keys of users, for clients that cannot log in. Only their hashes are stored. */
import type { Role } from '@parlance/protocol';

export type ApiKey = {
  /** public part of the key, used to look it up */
  readonly id: string;
  /** the user that the key acts as */
  readonly owner: string;
  /** name chosen by the owner */
  readonly name: string;
  /** upper bound of its permissions; it never grants more than the owner's current role */
  readonly role: Role;
  /** dialects that it may be used with; null for all */
  readonly dialects: readonly string[] | null;
  /** whether it may manage users, passwords, origins and MCP servers, which otherwise needs a login */
  readonly administration: boolean;
  /** SHA-256 of the whole key, in hex */
  readonly hash: string;
  readonly createdAt: number;
  /** when it expires; null for never */
  readonly expiresAt: number | null;
  readonly lastUsedAt: number | null;
};

/** Contract tests: `testing/stores/contract/api-keys.ts`. */
export interface ApiKeyStore {
  find(id: string): Promise<ApiKey | null>;
  /** In order of creation, then by id; of one owner, or of all. */
  list(owner?: string): Promise<ApiKey[]>;
  /**
   * Durable when it resolves with `added`. Writes nothing if the owner already has `most` keys (also under
   * concurrency), or if the user does not exist. Ids must be unique.
   */
  add(key: ApiKey, max: number): Promise<'added' | 'too_many' | 'no_user'>;
  /**
   * False if the key does not exist or does not belong to the given owner. Durable when it resolves, and
   * `RevocationStore.follow` reports it. Removing a user removes all of the user's keys in the same write.
   */
  remove(id: string, owner?: string): Promise<boolean>;
  /** Records when keys were last used (id → time). Ignores unknown ids and times before the stored one. */
  used(times: ReadonlyMap<string, number>): Promise<void>;
}
