/**
 * Sockets whose peers have not authenticated. The runtime buffers an unfinished message of each and does not say how
 * much, so each counts as the largest message while it is read. A socket beyond the budget is paused until another
 * one authenticates, closes or is evicted.
 */

export type Peer = {
  readonly address: string;
  /** Starts to read from the socket. */
  admit(): void;
  /** Closes the socket so that its buffer is freed at once. */
  evict(): void;
};

export type AnonymousLimits = {
  /** how many sockets are read at once */
  readonly places: number;
  /** how long a socket is read before it may be evicted for another, in milliseconds */
  readonly graceMs: number;
  /** how long the runtime may keep the buffer of a socket that was closed with a closing handshake */
  readonly lingerMs: number;
};

export class AnonymousSockets {
  /** when each was admitted, in that order */
  readonly #read = new Map<Peer, number>();
  /** in order of arrival */
  readonly #waiting = new Set<Peer>();
  /** places per address, those of closed sockets that linger included */
  readonly #taken = new Map<string, number>();
  #total = 0;
  #lookout: Timer | undefined;

  constructor(private readonly limits: AnonymousLimits) {}

  /** True if so many places are taken that a socket should be closed without a closing handshake. */
  get isCrowded(): boolean {
    return this.#waiting.size > 0 || this.#total > this.limits.places / 2;
  }

  /** True if the peer is admitted now; otherwise it waits. */
  join(peer: Peer): boolean {
    if (this.#hasRoom(peer.address)) {
      this.#admit(peer);
      return true;
    }
    this.#waiting.add(peer);
    this.#lookout ??= setInterval(() => this.#makeRoom(), Math.max(10, this.limits.graceMs / 8));
    return false;
  }

  /** The peer has authenticated or is gone. `lingers`: its buffer may outlive the socket. */
  leave(peer: Peer, lingers: boolean): void {
    this.#waiting.delete(peer);
    if (this.#waiting.size === 0) this.#stopLookout();
    if (!this.#read.delete(peer)) return;
    if (lingers) setTimeout(() => this.#free(peer.address), this.limits.lingerMs).unref();
    else this.#free(peer.address);
  }

  /** Evicts the peer that has waited longest, of the address with the most waiting. False if none waits. */
  evictWaiting(): boolean {
    const counts = new Map<string, number>();
    for (const { address } of this.#waiting) counts.set(address, (counts.get(address) ?? 0) + 1);
    const most = Math.max(...counts.values());
    for (const peer of this.#waiting)
      if (counts.get(peer.address) === most) {
        this.#evict(peer);
        return true;
      }
    return false;
  }

  #evict(peer: Peer): void {
    peer.evict();
    this.leave(peer, false);
  }

  #takenBy(address: string): number {
    return this.#taken.get(address) ?? 0;
  }

  /** An address may have as many places as it leaves free: one has half of them at most, and the next finds some. */
  #hasRoom(address: string): boolean {
    return this.#takenBy(address) < this.limits.places - this.#total;
  }

  #admit(peer: Peer): void {
    this.#waiting.delete(peer);
    this.#total++;
    this.#taken.set(peer.address, this.#takenBy(peer.address) + 1);
    this.#read.set(peer, performance.now());
    peer.admit();
  }

  #free(address: string): void {
    this.#total--;
    const taken = this.#takenBy(address) - 1;
    if (taken > 0) this.#taken.set(address, taken);
    else this.#taken.delete(address);
    for (let next = this.#next(); next; next = this.#next()) this.#admit(next);
    if (this.#waiting.size === 0) this.#stopLookout();
  }

  /**
   * The address with the fewest slots comes first, and there the latest peer: connections piled up by one address do
   * not delay a new client.
   */
  #next(): Peer | null {
    let next: Peer | null = null;
    for (const peer of this.#waiting) {
      if (!this.#hasRoom(peer.address)) continue;
      if (next === null || this.#takenBy(peer.address) <= this.#takenBy(next.address)) next = peer;
    }
    return next;
  }

  /** Evicts a socket that was read for the grace period for each one that waits. */
  #makeRoom(): void {
    for (let count = this.#waiting.size; count > 0 && this.#waiting.size > 0; count--) {
      const victim = this.#victim();
      if (victim === null) return;
      this.#evict(victim);
    }
  }

  /** The oldest one of the address with the most places. */
  #victim(): Peer | null {
    const old = performance.now() - this.limits.graceMs;
    let victim: Peer | null = null;
    for (const [peer, since] of this.#read) {
      if (since > old) break;
      if (victim === null || this.#takenBy(peer.address) > this.#takenBy(victim.address)) victim = peer;
    }
    return victim;
  }

  #stopLookout(): void {
    clearInterval(this.#lookout);
    this.#lookout = undefined;
  }
}
