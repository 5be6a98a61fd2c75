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
const REFUSALS = {
  sockets: { status: 503, reason: 'The server has reached its limit of sockets.' },
  unknownSockets: { status: 503, reason: 'Too many unauthenticated sockets.' },
  socketsPerAddress: { status: 429, reason: 'Too many sockets from this address.' },
  socketsPerPrincipal: { status: 429, reason: 'You have too many sockets.' },
} as const;

export type Refusal = {
  readonly limit: keyof CountLimits;
  readonly status: 429 | 503;
  readonly reason: string;
};

const refusal = (limit: keyof CountLimits): Refusal => ({ limit, ...REFUSALS[limit] });

export class SocketCounts {
  #all = 0;
  #unknown = 0;
  readonly #principals = new Map<string, number>();
  readonly #addresses = new Map<string, number>();

  constructor(private readonly limits: CountLimits) {}

  /** Takes a slot and returns null if one is free. */
  enter(socket: CountedSocket): Refusal | null {
    const { limits } = this;
    const { principal, address, unknown } = socket;
    if (this.#all >= limits.sockets) return refusal('sockets');
    if (unknown && this.#unknown >= limits.unknownSockets) return refusal('unknownSockets');
    if (address !== null && (this.#addresses.get(address) ?? 0) >= limits.socketsPerAddress)
      return refusal('socketsPerAddress');
    if (principal !== null && (this.#principals.get(principal) ?? 0) >= limits.socketsPerPrincipal)
      return refusal('socketsPerPrincipal');
    this.#count(socket, 1);
    return null;
  }

  leave(socket: CountedSocket): void {
    this.#count(socket, -1);
  }

  #count({ principal, address, unknown }: CountedSocket, amount: 1 | -1): void {
    this.#all += amount;
    if (unknown) this.#unknown += amount;
    if (address !== null) add(this.#addresses, address, amount);
    if (principal !== null) add(this.#principals, principal, amount);
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
    if ((this.#principals.get(principal) ?? 0) >= this.limits.socketsPerPrincipal)
      return refusal('socketsPerPrincipal');
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
