/** Whether the server can serve just now, and why not. */

export type Unready = 'starting' | 'draining' | 'storage_unavailable';

/** How long an answer of the store counts: asking costs it a write. */
const PROBE_MS = 1_000;

export class Readiness {
  #phase: 'starting' | 'serving' | 'draining' = 'starting';
  #probe: { readonly at: number; readonly writable: Promise<boolean> } | null = null;

  constructor(
    /** rejects where nothing can be stored */
    private readonly writable: () => Promise<void>,
    private readonly now: () => number = performance.now.bind(performance),
  ) {}

  /** Every listener is open; unfinished turns are resumed from now on. */
  serving(): void {
    this.#phase = 'serving';
  }

  /** For good. */
  draining(): void {
    this.#phase = 'draining';
  }

  /** Null where it can serve. */
  async problem(): Promise<Unready | null> {
    if (this.#phase !== 'serving') return this.#phase;
    return (await this.#stores()) ? null : 'storage_unavailable';
  }

  #stores(): Promise<boolean> {
    const at = this.now();
    if (!this.#probe || at - this.#probe.at >= PROBE_MS) {
      const writable = this.writable().then(
        () => true,
        () => false,
      );
      this.#probe = { at, writable };
    }
    return this.#probe.writable;
  }
}
