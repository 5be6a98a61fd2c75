/** The most critical moments for a kill, as clients observe them. */

export const MOMENTS = ['tool', 'approval', 'browser', 'compaction', 'stream'] as const;
export type Moment = (typeof MOMENTS)[number];

export class Moments {
  readonly #waiting = new Map<Moment, Set<() => void>>();

  saw(moment: Moment): void {
    const waiting = this.#waiting.get(moment);
    this.#waiting.delete(moment);
    for (const wake of waiting ?? []) wake();
  }

  /** Resolves with true when a client observes it from now on, with false on timeout. */
  async next(moment: Moment, patienceMs: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const wake = () => resolve(true);
    const waiting = this.#waiting.get(moment) ?? new Set();
    this.#waiting.set(moment, waiting.add(wake));
    const timer = setTimeout(() => resolve(false), patienceMs);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      waiting.delete(wake);
    }
  }
}
