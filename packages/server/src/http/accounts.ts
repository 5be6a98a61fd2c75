/** User administration. Names and roles can be read, passwords only written. */
import type { Role } from '@parlance/protocol';
import type { Login } from './authenticator.ts';

export type Account = {
  readonly name: string;
  readonly role: Role;
  readonly createdAt: number;
  /** the settings name the user: at the next start password and role are again as they say */
  readonly fromSettings: boolean;
};

export type PasswordChange = { readonly old: string; readonly password: string };

/** What ends the tokens of a user ends every socket and stream that lives on them. */
export interface Accounts {
  /** By name. */
  list(): Promise<Account[]>;
  /** Throws `invalid` for a name or a password that cannot be, and for a name that is taken. */
  add(wanted: { readonly name: string; readonly password: string; readonly role: Role }): Promise<Account>;
  /**
   * Omitted fields stay unchanged. The user's tokens are revoked. Throws `not_found`, `invalid` for an unacceptable
   * password, and `forbidden` if no admin would remain.
   */
  change(name: string, wanted: { readonly password?: string; readonly role?: Role }): Promise<Account>;
  /** Throws `not_found`, and `forbidden` if no admin would remain. */
  remove(name: string): Promise<void>;
  /** Ends all tokens of the user, and nothing else. Throws `not_found`. */
  logOut(name: string): Promise<void>;
  /**
   * A user's own: the tokens of the user end, and the result has a new one. Throws `forbidden` if the old password is
   * wrong, and `limited` if that, or a login from `address`, failed too often.
   */
  changePassword(name: string, change: PasswordChange, address: string): Promise<Login>;
}
