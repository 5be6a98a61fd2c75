/**
 * Browser extensions that a user connects to the server. An extension sends its origin and receives a code
 * and a token. The token is useless until a logged-in user has approved the code; then it acts as that user,
 * and its origin is accepted.
 */
import type { Principal, Role } from '@parlance/protocol';
import type { Key } from './authenticator.ts';

/** Where an extension requests a pairing. */
export const PAIRINGS_PATH = '/v1/pairings';
/** Where it reads and ends its own pairing, with its token. */
export const OWN_PAIRING_PATH = '/v1/pairings/own';

export type PairingRequestView = {
  readonly code: string;
  readonly name: string;
  readonly origin: string;
  readonly createdAt: number;
  readonly expiresAt: number;
};

export type PairingView = {
  /** public part of the token, safe for logs and lists */
  readonly id: string;
  readonly name: string;
  readonly origin: string;
  /** `local` in open mode */
  readonly owner: string;
  readonly role: Role;
  /** id of the API key that approved it, and that it ends with; null if a login did */
  readonly key: string | null;
  readonly allowedAt: number;
  /** when that key expires; null for never */
  readonly expiresAt: number | null;
  readonly lastUsedAt: number | null;
};

export type OwnPairing =
  | { readonly status: 'waiting'; readonly expiresAt: number }
  | { readonly status: 'allowed'; readonly owner: string };

export interface Pairings {
  /**
   * Returns the token, which cannot be recovered later. Throws `forbidden` unless the origin is that of an
   * extension, `invalid` for an invalid name, and `limited` if too many requests came from `address` or are
   * pending.
   */
  request(
    request: { readonly origin: string | null; readonly name: string },
    address: string,
  ): Promise<{ readonly code: string; readonly token: string; readonly expiresAt: number }>;
  /** The state of the token's pairing. Throws `not_found` if it was denied, revoked or has expired. */
  own(token: string): Promise<OwnPairing>;
  /** Ends the extension's own pairing or request. Throws `not_found` like `own`. */
  end(token: string): Promise<void>;
  /** Throws `not_found` if no request has the code, and `limited` if the caller has tried too many codes. */
  find(code: string, caller: Principal): Promise<PairingRequestView>;
  /**
   * A pairing that the caller approved with an API key ends with that key. Throws like `find`, and `forbidden`
   * if the caller has too many pairings.
   */
  allow(code: string, caller: Principal, key?: Key | null): Promise<PairingView>;
  deny(code: string, caller: Principal): Promise<void>;
  /** Pending requests, in order of creation. */
  waiting(): Promise<PairingRequestView[]>;
  /** In order of approval; of the caller, or of all users. */
  list(caller?: Principal): Promise<PairingView[]>;
  /**
   * Also closes its sockets and streams. Throws `not_found` if it does not exist or does not belong to the
   * given caller.
   */
  revoke(id: string, caller?: Principal): Promise<void>;
}
