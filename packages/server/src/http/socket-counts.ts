/** Counts sockets: in total, per principal, per address, and unauthenticated ones. */

export type CountLimits = {
  readonly sockets: number;
  readonly socketsPerPrincipal: number;
  readonly socketsPerAddress: number;
  readonly unknownSockets: number;
};

/** What a socket is counted under, so that closing it releases the same counts. */
export type CountedSocket = {
  principal: string | null;
  readonly address: string | null;
  /** not authenticated yet */
  unknown: boolean;
};

/** 429: the caller has too many; 503: the server has. */
export type Refusal = {
  readonly limit: keyof CountLimits;
  readonly status: 429 | 503;
  readonly reason: string;
};

export class SocketCounts {
  #all = 0;
  #unknown = 0;
  readonly #principals = new Map<string, number>();
  readonly #addresses = new Map<string, number>();

  constructor(private readonly limits: CountLimits) {}

  /** Takes a slot and returns null if one is free. */
  enter({ principal, address, unknown }: CountedSocket): Refusal | null {
    const { limits } = this;
    if (this.#all >= limits.sockets) return SERVER_FULL;
    if (unknown && this.#unknown >= limits.unknownSockets) return UNKNOWN_FULL;
    if (address !== null && (this.#addresses.get(address) ?? 0) >= limits.socketsPerAddress)
      return ADDRESS_FULL;
    if (principal !== null && (this.#principals.get(principal) ?? 0) >= limits.socketsPerPrincipal)
      return PRINCIPAL_FULL;
    this.#all++;
    if (unknown) this.#unknown++;
    if (address !== null) add(this.#addresses, address, 1);
    if (principal !== null) add(this.#principals, principal, 1);
    return null;
  }

  leave({ principal, address, unknown }: CountedSocket): void {
    this.#all--;
    if (unknown) this.#unknown--;
    if (address !== null) add(this.#addresses, address, -1);
    if (principal !== null) add(this.#principals, principal, -1);
  }

  /** Marks the socket as authorized, without a principal. */
  authorize(socket: CountedSocket): null {
    if (socket.unknown) this.#unknown--;
    socket.unknown = false;
    return null;
  }

  /**
   * Assigns the socket to the principal. Returns a refusal, and assigns none, if the principal has too many.
   */
  identify(socket: CountedSocket, principal: string): Refusal | null {
    this.authorize(socket);
    if (socket.principal === principal) return null;
    if (socket.principal !== null) add(this.#principals, socket.principal, -1);
    socket.principal = null;
    if ((this.#principals.get(principal) ?? 0) >= this.limits.socketsPerPrincipal) return PRINCIPAL_FULL;
    add(this.#principals, principal, 1);
    socket.principal = principal;
    return null;
  }
}

function add(counts: Map<string, number>, key: string, amount: number): void {
  const count = (counts.get(key) ?? 0) + amount;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}

const SERVER_FULL: Refusal = {
  limit: 'sockets',
  status: 503,
  reason: 'The server has reached its limit of sockets.',
};
const UNKNOWN_FULL: Refusal = {
  limit: 'unknownSockets',
  status: 503,
  reason: 'Too many unauthenticated sockets.',
};
const ADDRESS_FULL: Refusal = {
  limit: 'socketsPerAddress',
  status: 429,
  reason: 'Too many sockets from this address.',
};
const PRINCIPAL_FULL: Refusal = {
  limit: 'socketsPerPrincipal',
  status: 429,
  reason: 'You have too many sockets.',
};
