/** All randomness of a run. A source is branched by name, so that the draws of one part do not depend on those of another. */
export class Random {
  #state: number;

  constructor(private readonly seed: number) {
    this.#state = seed >>> 0;
  }

  branch(name: string): Random {
    return new Random(Number(Bun.hash.crc32(`${this.seed}:${name}`)));
  }

  /** from 0 (inclusive) to 1 (exclusive); mulberry32 */
  unit(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** a whole number, both ends included */
  between(least: number, most: number): number {
    return least + Math.floor(this.unit() * (most - least + 1));
  }

  chance(probability: number): boolean {
    return this.unit() < probability;
  }

  pick<Value>(from: readonly Value[]): Value {
    const picked = from[this.between(0, from.length - 1)];
    if (picked === undefined) throw new Error('nothing to pick from');
    return picked;
  }

  /** Mostly near `typical`, sometimes ten times as much. */
  latency(typical: number): number {
    return typical * (0.2 + this.unit() * 1.6) * (this.chance(0.03) ? 10 : 1);
  }
}
