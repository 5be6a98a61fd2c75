/** The part of the configuration that can change at run time. */
import type { Changeable } from '../../config/config.ts';

export class LiveConfig {
  #current: Changeable;
  readonly #listeners = new Set<(current: Changeable) => void>();

  constructor(first: Changeable) {
    this.#current = first;
  }

  get current(): Changeable {
    return this.#current;
  }

  replace(next: Changeable): void {
    this.#current = next;
    for (const listener of [...this.#listeners]) listener(next);
  }

  /** Called after each change, until the returned function is called. */
  onChange(listener: (current: Changeable) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}
