/** Who is calling: the door to `auth/` for everyone who takes a request. */
import type { Principal } from '@parlance/protocol';

export type Login = { readonly token: string; readonly expiresAt: number; readonly principal: Principal };

export interface Authenticator {
  /** in open mode a caller without a token is the principal `local` */
  readonly open: boolean;
  /** Throws `unauthenticated` for a token that is not ours, expired, revoked, or of a user that is gone or was changed. */
  verify(token: string): Promise<Principal>;
  /**
   * `address` is the client's. Throws `unauthenticated` where name or password is wrong, and `limited`, without a look
   * at the password, where that happened too often.
   */
  login(name: string, password: string, address: string): Promise<Login>;
  /** The token is no longer good for anything, from when this resolves. Throws as `verify`. */
  revoke(token: string): Promise<void>;
  /**
   * For what lives longer than a request. Calls `ended` once, with a line for the client, when the token is no longer
   * good: expired, revoked, or its user changed or gone, here or by another process. Returns what ends the watch.
   */
  onTokenRevoked(token: string, ended: (reason: string) => void): () => void;
}
