/** The leases that this node holds, as far as it knows. */
import { type SessionRef, sessionKey } from '../../core/ports/event-store.ts';
import type { Driver } from '../../core/ports/lease.ts';

export type HeldLease = { readonly ref: SessionRef; readonly row: number; readonly epoch: number };

/**
 * Leases sent to the database in a query, and sessions whose leases this node changes before the result
 * arrives.
 */
export type LeaseQuery = { readonly held: readonly HeldLease[]; readonly changed: Set<string> };

export class HeldLeases {
  readonly #held = new Map<string, HeldLease>();
  /** number of lease changes of this node in flight, per session */
  readonly #inFlight = new Map<string, number>();
  readonly #queries = new Set<LeaseQuery>();

  constructor(private readonly node: string) {}

  epochOf(ref: SessionRef): number | undefined {
    return this.#held.get(sessionKey(ref))?.epoch;
  }

  get size(): number {
    return this.#held.size;
  }

  /** Runs an operation that may change the lease of the session. */
  async changing<Result>(ref: SessionRef, work: () => Promise<Result>): Promise<Result> {
    const key = sessionKey(ref);
    for (const { changed } of this.#queries) changed.add(key);
    this.#inFlight.set(key, (this.#inFlight.get(key) ?? 0) + 1);
    try {
      return await work();
    } finally {
      const left = (this.#inFlight.get(key) ?? 1) - 1;
      if (left === 0) this.#inFlight.delete(key);
      else this.#inFlight.set(key, left);
    }
  }

  /** Records the driver that the database reports. */
  learn(ref: SessionRef, row: number, driver: Driver | null): void {
    const key = sessionKey(ref);
    const known = this.#held.get(key);
    // Results may arrive out of order, but epochs never decrease.
    if (known && driver && driver.epoch < known.epoch) return;
    if (driver?.node === this.node) this.#held.set(key, { ref, row, epoch: driver.epoch });
    else this.#held.delete(key);
  }

  forget(ref: SessionRef): void {
    this.#held.delete(sessionKey(ref));
  }

  /** Starts a query. End it with `lost` or `unknown`, or with `drop` if it fails. */
  startQuery(): LeaseQuery {
    const query = { held: [...this.#held.values()], changed: new Set(this.#inFlight.keys()) };
    this.#queries.add(query);
    return query;
  }

  drop(query: LeaseQuery): void {
    this.#queries.delete(query);
  }

  /**
   * `indexes` refer to leases that this node no longer holds. Returns the sessions lost to another node;
   * sessions changed during the query are left to the next one.
   */
  lost(query: LeaseQuery, indexes: readonly number[]): SessionRef[] {
    this.drop(query);
    const refs: SessionRef[] = [];
    for (const index of indexes) {
      const held = query.held[index];
      if (!held) continue;
      const key = sessionKey(held.ref);
      if (query.changed.has(key) || this.#held.get(key) !== held) continue;
      this.#held.delete(key);
      refs.push(held.ref);
    }
    return refs;
  }

  /**
   * Returns and records leases that the database assigns to this node but that it does not know, because the
   * response that granted them was lost.
   */
  unknown(query: LeaseQuery, found: readonly HeldLease[]): HeldLease[] {
    this.drop(query);
    const unknown = found.filter(({ ref }) => {
      const key = sessionKey(ref);
      return !query.changed.has(key) && !this.#held.has(key);
    });
    for (const held of unknown) this.#held.set(sessionKey(held.ref), held);
    return unknown;
  }
}
