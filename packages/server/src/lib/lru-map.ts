/** A map with a maximum size: evicts the least recently used entries when full. */
export class LruMap<Value> {
  readonly #entries = new Map<string, Value>();

  #size = 0;

  /** `sizeOf` an entry is 1 by default, so that `maxSize` is the number of entries. */
  constructor(
    private readonly maxSize: number,
    private readonly sizeOf: (value: Value) => number = () => 1,
  ) {}

  /** Marks the entry as used. */
  get(key: string): Value | undefined {
    const value = this.#entries.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }

  set(key: string, value: Value): void {
    this.delete(key);
    this.#entries.set(key, value);
    this.#size += this.sizeOf(value);
    for (const oldest of this.#entries.keys()) {
      if (this.#size <= this.maxSize) return;
      this.delete(oldest);
    }
  }

  /** Least recently used first. */
  values(): Iterable<Value> {
    return this.#entries.values();
  }

  delete(key: string): void {
    const value = this.#entries.get(key);
    if (value !== undefined && this.#entries.delete(key)) this.#size -= this.sizeOf(value);
  }
}
