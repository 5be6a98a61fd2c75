/** Rate limits per key. */
import { LruMap } from '../lib/lru-map.ts';

export type Usage = {
  readonly allowed: boolean;
  readonly remaining: number;
  /** time until the whole limit is available again */
  readonly resetMs: number;
};

export type RateLimiter = {
  /** Counts one use. Refused uses count too, but do not extend the window. */
  take(key: string): Usage;
  /** Undoes one counted use. */
  refund(key: string): void;
  reset(key: string): void;
};

export type RateLimit = {
  readonly limit: number;
  readonly windowMs: number;
  /** callers choose their keys: beyond this number, the least recently used one is dropped */
  readonly maxKeys?: number;
  readonly now?: () => number;
};

/**
 * Fixed windows in memory. A window starts with the first use of its key and ends after `windowMs`.
 *
 * @example
 * const logins = fixedWindowLimiter({ limit: 10, windowMs: 60_000 });
 * if (!logins.take(address).allowed) refuse();
 */
export function fixedWindowLimiter({
  limit,
  windowMs,
  maxKeys = 10_000,
  now = Date.now,
}: RateLimit): RateLimiter {
  const windows = new LruMap<{ used: number; readonly endsAt: number }>(maxKeys);
  const current = (key: string) => {
    const window = windows.get(key);
    return window !== undefined && window.endsAt > now() ? window : null;
  };

  return {
    take(key) {
      const window = current(key) ?? { used: 0, endsAt: now() + windowMs };
      window.used++;
      windows.set(key, window);
      return {
        allowed: window.used <= limit,
        remaining: Math.max(0, limit - window.used),
        resetMs: window.endsAt - now(),
      };
    },

    refund(key) {
      const window = current(key);
      if (window !== null && window.used > 0) window.used--;
    },

    reset: (key) => windows.delete(key),
  };
}
