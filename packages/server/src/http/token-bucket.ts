import { LruMap } from '../lib/lru-map.ts';

/**
 * A token bucket: allows bursts of up to one minute's limit, refilled continuously. Synchronous, without a
 * timer.
 */
export class TokenBucket {
  #left: number;
  #at: number;

  constructor(
    private readonly perMinute: number,
    /** in milliseconds */
    now: number,
  ) {
    this.#left = perMinute;
    this.#at = now;
  }

  /** Returns 0 if a token was taken, otherwise the milliseconds until one is available. */
  take(now: number): number {
    const perMillisecond = this.perMinute / 60_000;
    const passed = Math.max(0, now - this.#at);
    this.#left = Math.min(this.perMinute, this.#left + passed * perMillisecond);
    this.#at = now;
    if (this.#left < 1) return Math.ceil((1 - this.#left) / perMillisecond);
    this.#left -= 1;
    return 0;
  }
}

/**
 * One bucket per caller. Callers choose their names: beyond `maxCallers`, the least recently used one is
 * dropped.
 */
export class TokenBuckets {
  readonly #buckets: LruMap<TokenBucket>;

  constructor(
    private readonly perMinute: number,
    maxCallers = 10_000,
  ) {
    this.#buckets = new LruMap(maxCallers);
  }

  /** Like `TokenBucket.take`. */
  take(caller: string, now: number): number {
    const bucket = this.#buckets.get(caller) ?? new TokenBucket(this.perMinute, now);
    this.#buckets.set(caller, bucket);
    return bucket.take(now);
  }
}
