/** Browser extensions that a person has connected to the server, and those that wait for it. Only hashes of tokens are stored. */
import type { Role } from '@parlance/protocol';

type Extension = {
  /** the public part of its token, by which it is found */
  readonly id: string;
  /** SHA-256 of the whole token, in hex */
  readonly hash: string;
  /** such as `chrome-extension://…`: the token lets this origin in */
  readonly origin: string;
  /** what the extension calls itself */
  readonly name: string;
  readonly createdAt: number;
};

export type PairingRequest = Extension & {
  /** what the person confirms; worth nothing without a login */
  readonly code: string;
  /** the time from which it cannot be allowed */
  readonly expiresAt: number;
};

export type Pairing = Extension & {
  /** the user that the extension acts as; null: whoever calls without a token in open mode */
  readonly owner: string | null;
  /** the most that the token grants; it never grants more than the owner's role at the time of use */
  readonly role: Role;
  readonly allowedAt: number;
  readonly lastUsedAt: number | null;
};

/** `stores/contract/pairings.ts` tests every promise made here. */
export interface PairingStore {
  /**
   * Durable when it resolves with true; false if `most` others wait, or the code is taken. Removes requests that have expired
   * by the time this one was made.
   */
  request(request: PairingRequest, most: number): Promise<boolean>;
  /** In the order in which they were made; expired ones may be among them. */
  requests(): Promise<PairingRequest[]>;
  findRequest(id: string): Promise<PairingRequest | null>;
  requestWith(code: string): Promise<PairingRequest | null>;
  /** Removes the request: only one caller gets it. Null if there is none. */
  takeRequest(id: string): Promise<PairingRequest | null>;
  find(id: string): Promise<Pairing | null>;
  /** In the order in which they were allowed, then by id; of one owner, or of everyone. */
  list(owner?: string | null): Promise<Pairing[]>;
  /** Durable when it resolves with true; false if there is no such user. Ids must be unique. */
  add(pairing: Pairing): Promise<boolean>;
  hasOrigin(origin: string): Promise<boolean>;
  /**
   * False if there is none, or it is not the owner's, where one is given. Durable when it resolves, and
   * `RevocationStore.follow` reports it. Removing a user removes all pairings of that user in the same write.
   */
  remove(id: string, owner?: string | null): Promise<boolean>;
  /** Records when they were last used (id → time). An earlier time than the stored one and unknown ids change nothing. */
  used(times: ReadonlyMap<string, number>): Promise<void>;
}
