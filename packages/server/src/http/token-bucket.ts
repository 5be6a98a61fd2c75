/** So many in a minute: a burst of a whole minute's worth, then as many as come in again. No timer, no promise. */
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

  /** 0 where one was taken; otherwise how many milliseconds it takes until there is one. */
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

/** A bucket for each caller. Callers choose their names: beyond `most` the one that was not seen longest is forgotten. */
export class TokenBuckets {
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(
    private readonly perMinute: number,
    private readonly most = 10_000,
  ) {}

  /** As `TokenBucket.take`. */
  take(caller: string, now: number): number {
    const bucket = this.#buckets.get(caller) ?? new TokenBucket(this.perMinute, now);
    this.#buckets.delete(caller);
    this.#buckets.set(caller, bucket);
    for (const oldest of this.#buckets.keys()) {
      if (this.#buckets.size <= this.most) break;
      this.#buckets.delete(oldest);
    }
    return bucket.take(now);
  }
}
