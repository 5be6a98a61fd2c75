/** The part of the configuration that can change at run time. */
import type { Changeable } from '../../config/config.ts';

export class LiveConfig {
  #current: Changeable;
  readonly #listeners: ((current: Changeable) => void)[] = [];

  constructor(first: Changeable) {
    this.#current = first;
  }

  get current(): Changeable {
    return this.#current;
  }

  replace(next: Changeable): void {
    this.#current = next;
    for (const listener of this.#listeners) listener(next);
  }

  /** Called after each change. */
  onChange(listener: (current: Changeable) => void): void {
    this.#listeners.push(listener);
  }
}
