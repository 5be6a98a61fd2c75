/** Functions that are called when something happens. */
export class Listeners<Arguments extends unknown[] = []> {
  readonly #entries = new Set<{ readonly listener: (...args: Arguments) => void }>();

  get size(): number {
    return this.#entries.size;
  }

  /** Returns the unsubscribe function. The same function may be added twice. */
  readonly add = (listener: (...args: Arguments) => void): (() => void) => {
    const entry = { listener };
    this.#entries.add(entry);
    return () => void this.#entries.delete(entry);
  };

  readonly notify = (...args: Arguments): void => {
    for (const { listener } of [...this.#entries]) listener(...args);
  };

  clear(): void {
    this.#entries.clear();
  }
}
