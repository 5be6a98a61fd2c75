/**
 * Browser extensions that a user has connected to the server, and pending requests. Only token hashes are
 * stored.
 */
import type { Role } from '@parlance/protocol';

type Extension = {
  /** public part of its token, used to look it up */
  readonly id: string;
  /** SHA-256 of the whole token, in hex */
  readonly hash: string;
  /** such as `chrome-extension://…`: the token allows this origin */
  readonly origin: string;
  /** name given by the extension */
  readonly name: string;
  readonly createdAt: number;
};

export type PairingRequest = Extension & {
  /** code that the user confirms; useless without a login */
  readonly code: string;
  /** when the request expires */
  readonly expiresAt: number;
};

export type Pairing = Extension & {
  /** user that the extension acts as; null for the anonymous user of open mode */
  readonly owner: string | null;
  /** upper bound of its permissions; it never grants more than the owner's current role */
  readonly role: Role;
  /** id of the API key that approved it, whose removal removes it; null if a login did */
  readonly key: string | null;
  readonly allowedAt: number;
  /** when that key expires; null for never */
  readonly expiresAt: number | null;
  readonly lastUsedAt: number | null;
};

/** Contract tests: `testing/stores/contract/pairings.ts`. */
export interface PairingStore {
  /**
   * Durable when it resolves with true; false if `most` other requests are pending or the code is taken.
   * Removes requests that had expired when this one was created.
   */
  request(request: PairingRequest, max: number): Promise<boolean>;
  /** In order of creation; may include expired ones. */
  requests(): Promise<PairingRequest[]>;
  findRequest(id: string): Promise<PairingRequest | null>;
  requestWith(code: string): Promise<PairingRequest | null>;
  /** Removes the request, so that only one caller receives it. Null if there is none. */
  takeRequest(id: string): Promise<PairingRequest | null>;
  find(id: string): Promise<Pairing | null>;
  /** In order of approval, then by id; of one owner, or of all. */
  list(owner?: string | null): Promise<Pairing[]>;
  /** Durable when it resolves with true; false if the user or the key does not exist. Ids must be unique. */
  add(pairing: Pairing): Promise<boolean>;
  hasOrigin(origin: string): Promise<boolean>;
  /**
   * False if the pairing does not exist or does not belong to the given owner. Durable when it resolves, and
   * `RevocationStore.follow` reports it. Removing a user or an API key removes its pairings in the same
   * write.
   */
  remove(id: string, owner?: string | null): Promise<boolean>;
  /**
   * Records when pairings were last used (id → time). Ignores unknown ids and times before the stored one.
   */
  used(times: ReadonlyMap<string, number>): Promise<void>;
}
