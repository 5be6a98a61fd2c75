/// <reference path="./rate-limiter-flexible.d.ts" />
/** A rate limiter whose memory has an end. */
import RateLimiterMemory from 'rate-limiter-flexible/lib/RateLimiterMemory.js';
import RateLimiterRes from 'rate-limiter-flexible/lib/RateLimiterRes.js';

/** When it is full, the entry that was used longest ago makes room; `dropped` is told which. */
export class BoundedSet {
  readonly #entries = new Set<string>();

  constructor(
    private readonly most: number,
    private readonly dropped: (entry: string) => void = () => undefined,
  ) {}

  has(entry: string): boolean {
    return this.#entries.has(entry);
  }

  add(entry: string): void {
    this.#entries.delete(entry);
    this.#entries.add(entry);
    for (const oldest of this.#entries) {
      if (this.#entries.size <= this.most) return;
      this.#entries.delete(oldest);
      this.dropped(oldest);
    }
  }
}

export class BoundedLimiter {
  readonly #limiter: RateLimiterMemory;
  readonly #keys: BoundedSet;

  constructor(points: number, seconds: number, mostKeys: number) {
    this.#limiter = new RateLimiterMemory({ points, duration: seconds });
    this.#keys = new BoundedSet(mostKeys, (key) => void this.#limiter.delete(key));
  }

  /** How many milliseconds until the key may be used again; 0 where it may now. */
  async consume(key: string): Promise<number> {
    this.#keys.add(key);
    try {
      await this.#limiter.consume(key);
      return 0;
    } catch (beyond) {
      if (!(beyond instanceof RateLimiterRes)) throw beyond;
      return Math.max(1, beyond.msBeforeNext);
    }
  }

  /** A use that was counted does not count. */
  async giveBack(key: string): Promise<void> {
    if ((await this.#limiter.get(key))?.consumedPoints) await this.#limiter.reward(key);
  }

  async reset(key: string): Promise<void> {
    await this.#limiter.delete(key);
  }
}
