/**
 * Sockets of peers that have not authenticated. The runtime buffers an unfinished message per socket without
 * reporting its size, so each socket counts as the largest message while it is read. A socket beyond the
 * budget is paused until another one authenticates, closes or is evicted.
 */

export type Peer = {
  readonly address: string;
  /** Starts reading from the socket. */
  admit(): void;
  /** Closes the socket in a way that frees its buffer immediately. */
  evict(): void;
};

export type AnonymousLimits = {
  /** number of sockets read at a time */
  readonly places: number;
  /** how long a socket is read before it may be evicted for another one, in milliseconds */
  readonly graceMs: number;
  /** how long the runtime may keep the buffer of a socket after a closing handshake */
  readonly lingerMs: number;
};

export class AnonymousSockets {
  /** time of admission, in order */
  readonly #read = new Map<Peer, number>();
  /** in order of arrival */
  readonly #waiting = new Set<Peer>();
  /** slots per address, including closed sockets that linger */
  readonly #taken = new Map<string, number>();
  #total = 0;
  #lookout: Timer | undefined;

  constructor(private readonly limits: AnonymousLimits) {}

  /** Whether so many slots are taken that sockets should be closed without a closing handshake. */
  get isCrowded(): boolean {
    return this.#waiting.size > 0 || this.#total > this.limits.places / 2;
  }

  /** True if the peer is admitted; otherwise it waits. */
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

  /** Evicts the longest-waiting peer of the address with the most waiting ones. False if none waits. */
  evictWaiting(): boolean {
    const counts = new Map<string, number>();
    for (const { address } of this.#waiting) counts.set(address, (counts.get(address) ?? 0) + 1);
    const max = Math.max(...counts.values());
    for (const peer of this.#waiting)
      if (counts.get(peer.address) === max) {
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

  /**
   * An address may take as many slots as it leaves free: one address gets at most half, and the next still
   * finds some.
   */
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
   * Picks the address with the fewest slots, and its latest peer: many connections from one address do not
   * delay a new client.
   */
  #next(): Peer | null {
    let next: Peer | null = null;
    for (const peer of this.#waiting) {
      if (!this.#hasRoom(peer.address)) continue;
      if (next === null || this.#takenBy(peer.address) <= this.#takenBy(next.address)) next = peer;
    }
    return next;
  }

  /** Evicts one socket past its grace period for each waiting one. */
  #makeRoom(): void {
    for (let count = this.#waiting.size; count > 0 && this.#waiting.size > 0; count--) {
      const victim = this.#victim();
      if (victim === null) return;
      this.#evict(victim);
    }
  }

  /** The oldest socket of the address with the most slots. */
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
