/** Authentication of callers; implemented by `auth/`. */
import type { Principal } from '@parlance/protocol';

export type Login = { readonly token: string; readonly expiresAt: number; readonly principal: Principal };

export interface Authenticator {
  /** in open mode, a caller without a token is the principal `local` */
  readonly open: boolean;
  /**
   * Verifies a token or an API key. Throws `unauthenticated` if it is unknown, expired or revoked, or if its
   * user was removed (for a token, also if the user was changed). Throws `limited` if too many invalid keys
   * came from the client `address`.
   */
  verify(token: string, address?: string): Promise<Principal>;
  /**
   * The origin of the paired extension that the token belongs to; null if there is none, or the token is
   * invalid.
   */
  pairedOrigin(token: string): Promise<string | null>;
  /**
   * Throws `unauthenticated` if name or password is wrong, and `limited`, without checking the password,
   * after too many failures from the client `address`.
   */
  login(name: string, password: string, address: string): Promise<Login>;
  /**
   * Invalidates the token before it resolves. Throws like `verify`, and `forbidden` for an API key, which has
   * no login.
   */
  revoke(token: string): Promise<void>;
  /**
   * For long-lived connections. Calls `ended` once, with a reason for the client, when the token becomes
   * invalid: expired, revoked, or its user changed or removed, by this or another process. For an API key,
   * also when its permissions change: `granted` is the result of `verify`, by default the key's current
   * permissions. Returns a function that stops watching.
   */
  onTokenRevoked(token: string, ended: (reason: string) => void, granted?: Principal): () => void;
}
