/** The leases that this node holds, as far as it knows. */
import { type SessionRef, sessionKey } from '../../core/ports/event-store.ts';
import type { Driver } from '../../core/ports/lease.ts';

export type Held = { readonly ref: SessionRef; readonly row: number; readonly epoch: number };

/** What a heartbeat asks about, and what was changed by this node meanwhile. */
type Question = { readonly held: readonly Held[]; readonly changed: Set<string> };

export class HeldLeases {
  readonly #held = new Map<string, Held>();
  /** how many changes of this node to the lease of a session are in flight */
  readonly #inFlight = new Map<string, number>();
  #question: Question | null = null;

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
    this.#question?.changed.add(key);
    this.#inFlight.set(key, (this.#inFlight.get(key) ?? 0) + 1);
    try {
      return await work();
    } finally {
      const left = (this.#inFlight.get(key) ?? 1) - 1;
      if (left === 0) this.#inFlight.delete(key);
      else this.#inFlight.set(key, left);
    }
  }

  /** The database says who drives the session. */
  learn(ref: SessionRef, row: number, driver: Driver | null): void {
    const key = sessionKey(ref);
    const known = this.#held.get(key);
    // Answers may arrive out of order: an epoch never shrinks.
    if (known && driver && driver.epoch < known.epoch) return;
    if (driver?.node === this.node) this.#held.set(key, { ref, row, epoch: driver.epoch });
    else this.#held.delete(key);
  }

  forget(ref: SessionRef): void {
    this.#held.delete(sessionKey(ref));
  }

  /** What the next heartbeat asks about. */
  ask(): readonly Held[] {
    const held = [...this.#held.values()];
    this.#question = { held, changed: new Set(this.#inFlight.keys()) };
    return held;
  }

  /**
   * `lost` are indexes into what was asked. Returns the sessions that were lost to another node; what this node changed
   * meanwhile is left to the next heartbeat.
   */
  answer(lost: readonly number[]): SessionRef[] {
    const question = this.#question;
    this.#question = null;
    const refs: SessionRef[] = [];
    for (const index of lost) {
      const held = question?.held[index];
      if (!held) continue;
      const key = sessionKey(held.ref);
      if (question.changed.has(key) || this.#held.get(key) !== held) continue;
      this.#held.delete(key);
      refs.push(held.ref);
    }
    return refs;
  }
}
