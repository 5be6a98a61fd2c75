/** API keys, for their owners and for admins. The key itself is returned once, when it is created. */

import type { Role } from '@parlance/protocol';
import type { ApiKey } from '../accounts/store.ts';

/** Without its hash. */
export type ApiKeyView = Omit<ApiKey, 'hash'>;

export type NewApiKey = {
  readonly name: string;
  /** default: the owner's role */
  readonly role?: Role | undefined;
  /** default: all */
  readonly dialects?: readonly string[] | undefined;
  /** default: false */
  readonly administration?: boolean | undefined;
  /** default: never */
  readonly expiresAt?: number | undefined;
};

/** A key acts as its owner, limited by its own role and the owner's current role. */
export interface ApiKeys {
  /** In order of creation; of one owner, or of all. */
  list(owner?: string): Promise<ApiKeyView[]>;
  /**
   * Resolves with the key, which cannot be recovered later. Throws `invalid` for an invalid name, dialect or
   * time, and `forbidden` for a role above the owner's, an unknown user, or too many keys.
   */
  add(owner: string, key: NewApiKey): Promise<ApiKeyView & { readonly key: string }>;
  /**
   * Closes the connections that use the key. Throws `not_found` if it does not exist or does not belong to
   * the given owner.
   */
  revoke(id: string, owner?: string): Promise<void>;
}
