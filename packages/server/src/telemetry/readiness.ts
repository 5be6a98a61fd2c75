/** Readiness of the server, with the reason if it is not ready. */

import { Fault } from '@parlance/protocol';

export type NotReady = {
  readonly reason: 'starting' | 'draining' | 'storage_unavailable';
  readonly detail: string;
};

const STARTING: NotReady = { reason: 'starting', detail: 'The server is resuming unfinished turns.' };
const DRAINING: NotReady = { reason: 'draining', detail: 'The server is shutting down.' };

/** Other errors may contain paths. */
const notWritable = (thrown: unknown): NotReady => ({
  reason: 'storage_unavailable',
  detail: thrown instanceof Fault ? thrown.message : 'Storage is temporarily unavailable.',
});

/** How long a probe result is cached: a probe costs a write. */
const PROBE_MS = 1_000;

export class Readiness {
  #unready: NotReady | null = STARTING;
  #probe: { readonly at: number; readonly problem: Promise<NotReady | null> } | null = null;

  constructor(
    /** rejects if writes are not possible */
    private readonly writable: () => Promise<void>,
    private readonly now: () => number = performance.now.bind(performance),
  ) {}

  /** All listeners are open; unfinished turns resume from now on. */
  serving(): void {
    this.#unready = null;
  }

  /** Final: the server does not become ready again. */
  draining(): void {
    this.#unready = DRAINING;
  }

  /** Null if the server is ready. */
  async problem(): Promise<NotReady | null> {
    return this.#unready ?? this.#storage();
  }

  #storage(): Promise<NotReady | null> {
    const at = this.now();
    if (!this.#probe || at - this.#probe.at >= PROBE_MS) {
      const problem = this.writable().then(() => null, notWritable);
      this.#probe = { at, problem };
    }
    return this.#probe.problem;
  }
}
