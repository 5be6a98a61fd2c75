/**
 * Browser extensions that a user connects to the server. An extension sends its origin and receives a code
 * and a token. The token is useless until a logged-in user has approved the code; then it acts as that user,
 * and its origin is accepted.
 */
import type { Principal } from '@parlance/protocol';
import type * as api from '@parlance/protocol/api';
import type { InMilliseconds } from '../lib/in-milliseconds.ts';
import type { Key } from './authenticator.ts';

/** Where an extension requests a pairing. */
export const PAIRINGS_PATH = '/v1/pairings';
/** Where it reads and ends its own pairing, with its token. */
export const OWN_PAIRING_PATH = '/v1/pairings/own';

export type PairingRequestView = InMilliseconds<api.PairingRequest, 'createdAt' | 'expiresAt'>;
export type PairingView = InMilliseconds<api.Pairing, 'allowedAt' | 'expiresAt' | 'lastUsedAt'>;

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
