/** A map with a bounded number of entries: if it is full, the least recently used entry is removed. */
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

  /** The least recently used first. */
  values(): Iterable<Value> {
    return this.#entries.values();
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }
}
