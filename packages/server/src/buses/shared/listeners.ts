import type { Log } from '../../core/ports/logger.ts';

/** Listeners that are called in order. One that throws is logged. */
export class Listeners<Args extends unknown[]> {
  readonly #listeners = new Set<(...args: Args) => void>();

  constructor(private readonly log: Log) {}

  add(listener: (...args: Args) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  call(...args: Args): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(...args);
      } catch (thrown) {
        this.log.error({ err: thrown }, 'bus listener failed');
      }
    }
  }
}
