/**
 * Browser extensions that a person connects to the server. An extension asks with its origin and is given a code and a token.
 * The token is worth nothing until a person who is logged in has allowed the code; then it acts as that person and lets the
 * origin in.
 */
import type { Principal, Role } from '@parlance/protocol';

/** Where an extension asks to be paired. */
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
  /** the public part of the token, which logs and lists may show */
  readonly id: string;
  readonly name: string;
  readonly origin: string;
  /** `local` in open mode */
  readonly owner: string;
  readonly role: Role;
  readonly allowedAt: number;
  readonly lastUsedAt: number | null;
};

export type OwnPairing =
  | { readonly status: 'waiting'; readonly expiresAt: number }
  | { readonly status: 'allowed'; readonly owner: string };

export interface Pairings {
  /**
   * The token goes out once and cannot be had again. Throws `forbidden` unless the origin is that of an extension, `invalid` for
   * a name that cannot be, and `limited` if too many requests came from `address` or wait.
   */
  request(
    wanted: { readonly origin: string | null; readonly name: string },
    address: string,
  ): Promise<{ readonly code: string; readonly token: string; readonly expiresAt: number }>;
  /** The state of the pairing that the token belongs to. Throws `not_found` if it was denied, revoked or has expired. */
  own(token: string): Promise<OwnPairing>;
  /** The extension ends its own pairing, or its request. Throws `not_found` like `own`. */
  end(token: string): Promise<void>;
  /** Throws `not_found` for a code that nobody waits with, and `limited` if the caller has tried too many. */
  find(code: string, caller: Principal): Promise<PairingRequestView>;
  /** Throws as `find`, and `forbidden` if the caller has too many. */
  allow(code: string, caller: Principal): Promise<PairingView>;
  deny(code: string, caller: Principal): Promise<void>;
  /** The requests that wait, in the order in which they were made. */
  waiting(): Promise<PairingRequestView[]>;
  /** In the order in which they were allowed; of the caller, or of everyone. */
  list(caller?: Principal): Promise<PairingView[]>;
  /** Its sockets and streams are closed. Throws `not_found` if there is none, or it is not the caller's, if one is given. */
  revoke(id: string, caller?: Principal): Promise<void>;
}
