/** A map with a maximum size: evicts the least recently used entry when full. */
export class LruMap<Value> {
  readonly #entries = new Map<string, Value>();

  constructor(private readonly maxEntries: number) {}

  /** Marks the entry as used. */
  get(key: string): Value | undefined {
    const value = this.#entries.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }

  set(key: string, value: Value): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.maxEntries) return;
      this.#entries.delete(oldest);
    }
  }

  /** Least recently used first. */
  values(): Iterable<Value> {
    return this.#entries.values();
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }
}
