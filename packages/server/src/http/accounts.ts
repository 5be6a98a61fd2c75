/** User administration. Names and roles can be read, passwords only written. */

import type { Role } from '@parlance/protocol';
import type { User } from '@parlance/protocol/api';
import type { InMilliseconds } from '../lib/in-milliseconds.ts';
import type { Login } from './authenticator.ts';

export type Account = InMilliseconds<User, 'createdAt'>;

export type PasswordChange = { readonly old: string; readonly password: string };

/** Revoking a user's tokens also closes the sockets and streams that use them. */
export interface Accounts {
  /** Sorted by name. */
  list(): Promise<Account[]>;
  /** Throws `invalid` for an invalid name or password, and for a name that is taken. */
  add(user: { readonly name: string; readonly password: string; readonly role: Role }): Promise<Account>;
  /**
   * Omitted fields stay unchanged. The user's tokens are revoked. Throws `not_found`, `invalid` for an unacceptable
   * password, and `forbidden` if no admin would remain.
   */
  change(name: string, changes: { readonly password?: string; readonly role?: Role }): Promise<Account>;
  /** Throws `not_found`, and `forbidden` if no admin would remain. */
  remove(name: string): Promise<void>;
  /** Revokes all tokens of the user. Throws `not_found`. */
  logOut(name: string): Promise<void>;
  /**
   * Changes the caller's own password: revokes the user's tokens and returns a new one. Throws `forbidden` if
   * the old password is wrong, and `limited` if that, or a login from `address`, failed too often.
   */
  changePassword(name: string, change: PasswordChange, address: string): Promise<Login>;
}
