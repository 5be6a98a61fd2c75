/**
 * Ring buffer limited by count and size; counts the items it drops. While it is held, new items are buffered separately
 * under the same limits, so that the shown items do not move.
 */
export type Bounds<Item> = {
  readonly maxItems: number;
  /** in the unit of `sizeOf` */
  readonly maxSize: number;
  readonly sizeOf: (item: Item) => number;
};

class Queue<Item> {
  items: Item[] = [];
  #size = 0;

  constructor(private readonly bounds: Bounds<Item>) {}

  /** Returns the number of dropped items. The latest item is kept even if it is too large. */
  add(added: readonly Item[]): number {
    const { maxItems, maxSize, sizeOf } = this.bounds;
    this.items = [...this.items, ...added];
    for (const item of added) this.#size += sizeOf(item);
    let gone = 0;
    while (this.items.length - gone > 1 && (this.items.length - gone > maxItems || this.#size > maxSize)) {
      const oldest = this.items[gone];
      if (oldest !== undefined) this.#size -= sizeOf(oldest);
      gone++;
    }
    if (gone > 0) this.items = this.items.slice(gone);
    return gone;
  }

  take(): Item[] {
    const taken = this.items;
    this.items = [];
    this.#size = 0;
    return taken;
  }
}

export class Bounded<Item> {
  readonly #shown: Queue<Item>;
  readonly #waiting: Queue<Item>;
  #dropped = 0;
  #holding = false;

  constructor(bounds: Bounds<Item>) {
    this.#shown = new Queue(bounds);
    this.#waiting = new Queue(bounds);
  }

  /** the same array until items are shown or cleared */
  get items(): readonly Item[] {
    return this.#shown.items;
  }

  /** items buffered while held */
  get waiting(): number {
    return this.#waiting.items.length;
  }

  /** items dropped since the start or the last clear */
  get dropped(): number {
    return this.#dropped;
  }

  add(items: readonly Item[]): void {
    if (items.length === 0) return;
    this.#dropped += (this.#holding ? this.#waiting : this.#shown).add(items);
  }

  hold(): void {
    this.#holding = true;
  }

  release(): void {
    this.#holding = false;
    const waited = this.#waiting.take();
    if (waited.length > 0) this.#dropped += this.#shown.add(waited);
  }

  clear(): void {
    this.#shown.take();
    this.#waiting.take();
    this.#dropped = 0;
  }
}
