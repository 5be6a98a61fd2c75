/**
 * The latest of what passes, up to a number and a size: the oldest go first, and are counted. While it is held, what
 * comes waits apart, under the same bounds, so that what is looked at does not move.
 */
export type Bounds<Item> = {
  readonly most: number;
  /** in the unit of `sizeOf` */
  readonly largest: number;
  readonly sizeOf: (item: Item) => number;
};

class Queue<Item> {
  items: Item[] = [];
  #size = 0;

  constructor(private readonly bounds: Bounds<Item>) {}

  /** Returns how many had to go. One that is too large by itself is kept: it is the latest. */
  add(added: readonly Item[]): number {
    const { most, largest, sizeOf } = this.bounds;
    this.items = [...this.items, ...added];
    for (const item of added) this.#size += sizeOf(item);
    let gone = 0;
    while (this.items.length - gone > 1 && (this.items.length - gone > most || this.#size > largest)) {
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
  #held = false;

  constructor(bounds: Bounds<Item>) {
    this.#shown = new Queue(bounds);
    this.#waiting = new Queue(bounds);
  }

  /** the same array until something is shown or cleared */
  get items(): readonly Item[] {
    return this.#shown.items;
  }

  /** how many came while it was held and are still kept */
  get waiting(): number {
    return this.#waiting.items.length;
  }

  /** how many were let go since the beginning, or since it was cleared */
  get dropped(): number {
    return this.#dropped;
  }

  add(items: readonly Item[]): void {
    if (items.length === 0) return;
    this.#dropped += (this.#held ? this.#waiting : this.#shown).add(items);
  }

  hold(): void {
    this.#held = true;
  }

  release(): void {
    this.#held = false;
    const waited = this.#waiting.take();
    if (waited.length > 0) this.#dropped += this.#shown.add(waited);
  }

  clear(): void {
    this.#shown.take();
    this.#waiting.take();
    this.#dropped = 0;
  }
}
