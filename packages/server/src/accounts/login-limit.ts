/** Counts login attempts of a single process, in memory. */

import { fixedWindowLimiter, type RateLimiter } from '../http/rate-limiter.ts';
import { LruMap } from '../lib/lru-map.ts';
import { LOGIN_WINDOW_SECONDS, type LoginAttempts, type LoginLimits, OVERALL_FACTOR } from './store.ts';

/** Maximum number of names and addresses in memory; beyond it, the least recently used are dropped. */
const MAX_KEYS = 20_000;

export function limitLogins({
  attempts,
  windowSeconds = LOGIN_WINDOW_SECONDS,
  maxKeys = MAX_KEYS,
}: LoginLimits): LoginAttempts {
  const limiter = (limit: number) => fixedWindowLimiter({ limit, windowMs: windowSeconds * 1000, maxKeys });
  const pairs = limiter(attempts);
  const addresses = limiter(attempts * OVERALL_FACTOR);
  const names = limiter(attempts * OVERALL_FACTOR);
  const known = new LruMap<true>(maxKeys);
  const pairOf = (name: string, address: string) => JSON.stringify([name, address]);

  return {
    async begin(name, address) {
      const limits: [RateLimiter, string][] = [[addresses, address]];
      if (name !== null) {
        const pair = pairOf(name, address);
        limits.push([pairs, pair]);
        if (known.get(pair) === undefined) limits.push([names, name]);
      }
      for (const [index, [limiter, key]] of limits.entries()) {
        const { allowed, resetMs } = limiter.take(key);
        if (allowed) continue;
        // A refused attempt reveals nothing about the password, so it does not count.
        for (const [counted, countedKey] of limits.slice(0, index + 1)) counted.refund(countedKey);
        return { ok: false, retryAfterMs: Math.max(1, resetMs) };
      }
      return { ok: true };
    },

    async succeeded(name, address) {
      known.set(pairOf(name, address), true);
      addresses.refund(address);
      pairs.reset(pairOf(name, address));
      names.reset(name);
    },
  };
}
