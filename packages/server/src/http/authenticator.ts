/** Authentication of callers; implemented by `accounts/`. */
import type { Principal } from '@parlance/protocol';
import type { SignInSecret } from './sign-in-cookie.ts';

export type Login = { readonly token: string; readonly expiresAt: number; readonly principal: Principal };

/** `key` is for the page, `secret` for the cookie. */
export type BrowserLogin = SignInSecret & { readonly key: string; readonly principal: Principal };

/** Where a token comes from, as far as the server can see it. */
export type Caller = {
  readonly address?: string | undefined;
  /** the headers `Origin` and `Sec-Fetch-Site` */
  readonly origin?: string | null | undefined;
  readonly site?: string | null | undefined;
};

export type Key = {
  /** public part of the key */
  readonly id: string;
  /** the extension it was paired for; null for other keys */
  readonly origin: string | null;
  /** null for never */
  readonly expiresAt: number | null;
  /** whether it has the scope for what otherwise needs a login */
  readonly administration: boolean;
};

export interface Authenticator {
  /** in open mode, a caller without a token is the principal `local` */
  readonly open: boolean;
  /**
   * Verifies a token, an API key or a sign-in. Throws `unauthenticated` if it is unknown, expired or revoked, or if its
   * user was removed (for a token, also if the user was changed). Throws `forbidden` for the token of a paired
   * extension from elsewhere, and `limited` if too many invalid keys came from the address of the caller.
   */
  verify(token: string, caller?: Caller): Promise<Principal>;
  /** The API key, or the key of a paired extension; null for other tokens, and if it is invalid. */
  keyOf(token: string): Promise<Key | null>;
  /**
   * Throws `unauthenticated` if name or password is wrong, and `limited`, without checking the password,
   * after too many failures from the client `address`.
   */
  login(name: string, password: string, address: string): Promise<Login>;
  /** Signs a browser in. Throws like `login`. */
  signIn(name: string, password: string, address: string): Promise<BrowserLogin>;
  /**
   * A new secret for the cookie of a sign-in; null if the present one stays. Throws like `verify`, and `forbidden` for a token that is not
   * a sign-in.
   */
  refresh(token: string): Promise<SignInSecret | null>;
  /** A token that ends with the sign-in, for clients beside the console. Throws like `refresh`. */
  tokenFor(signIn: string): Promise<Login>;
  /**
   * Invalidates the token, or ends the sign-in, before it resolves. Throws like `verify`, and `forbidden` for an API key, which has
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
