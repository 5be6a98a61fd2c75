/** API keys, for their owners and for admins: the text of a key goes out once, when it is made. */
import type { Role } from '@parlance/protocol';

export type ApiKeyView = {
  /** the public part, which logs and lists may show */
  readonly id: string;
  readonly owner: string;
  readonly name: string;
  readonly role: Role;
  /** null: all */
  readonly dialects: readonly string[] | null;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly lastUsedAt: number | null;
};

export type WantedKey = {
  readonly name: string;
  /** default: the role of the owner */
  readonly role?: Role | undefined;
  /** default: all */
  readonly dialects?: readonly string[] | undefined;
  /** default: never */
  readonly expiresAt?: number | undefined;
};

/** A key acts as its owner, with at most its own role and at most the owner's current one. */
export interface ApiKeys {
  /** In the order in which they were made; of one owner, or of everyone. */
  list(owner?: string): Promise<ApiKeyView[]>;
  /**
   * Resolves with the text of the key, which cannot be had again. Throws `invalid` for a name, a dialect or a time that
   * cannot be, and `forbidden` for a role above the owner's, if there is no such user, or if it has too many keys.
   */
  add(owner: string, wanted: WantedKey): Promise<ApiKeyView & { readonly key: string }>;
  /** What lives on the key is closed. Throws `not_found` if there is none, or it is not the owner's, if one is given. */
  revoke(id: string, owner?: string): Promise<void>;
}
