/** Authentication of callers; implemented by `auth/`. */
import type { Principal } from '@parlance/protocol';

export type Login = { readonly token: string; readonly expiresAt: number; readonly principal: Principal };

export interface Authenticator {
  /** in open mode a caller without a token is the principal `local` */
  readonly open: boolean;
  /**
   * Of a token or an API key. Throws `unauthenticated` for one that is not ours, expired or revoked, for a token of a user
   * that is gone or was changed, and for a key of a user that is gone. `address` is the client's: throws `limited` if too
   * many invalid keys came from there.
   */
  verify(token: string, address?: string): Promise<Principal>;
  /** The origin of the paired extension that the token belongs to; null if it belongs to none, or is not valid. */
  pairedOrigin(token: string): Promise<string | null>;
  /**
   * `address` is the client's. Throws `unauthenticated` if name or password is wrong, and `limited`, without checking
   * the password, after too many failures.
   */
  login(name: string, password: string, address: string): Promise<Login>;
  /**
   * The token is no longer good for anything, from when this resolves. Throws as `verify`, and `forbidden` for an API key,
   * which does not log in or out.
   */
  revoke(token: string): Promise<void>;
  /**
   * For what lives longer than a request. Calls `ended` once, with a line for the client, when the token is no longer
   * good: expired, revoked, or its user changed or gone, here or by another process. An API key is watched for what it
   * granted: `granted` is what `verify` returned, by default what the key grants now. Returns what ends the watch.
   */
  onTokenRevoked(token: string, ended: (reason: string) => void, granted?: Principal): () => void;
}
