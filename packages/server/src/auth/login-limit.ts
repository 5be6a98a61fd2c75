/**
 * Limits failed logins, in windows that start with the first failure and end by themselves, so that no user is locked
 * out permanently:
 *
 * - per name and address, against guessing one password;
 * - per address over all names, against trying one password on many users;
 * - per name over all addresses without an earlier login of that name, against distributed guessing.
 *
 * So one address cannot lock a user out at another, and many addresses cannot lock a user out at a known one.
 */

import { fixedWindowLimiter, type RateLimiter } from '../http/rate-limiter.ts';
import { LruMap } from '../lib/lru-map.ts';

/** Factor of the limits per address and per name over the limit per name and address. */
const OVERALL = 10;
/** Maximum number of names and of addresses in memory; beyond it the least recently used are forgotten. */
const MAX_KEYS = 20_000;
const WINDOW_SECONDS = 15 * 60;

export type LoginLimits = {
  /** failures per name and address in a window */
  readonly attempts: number;
  readonly windowSeconds?: number;
  readonly maxKeys?: number;
};

export type Attempt = { readonly ok: true } | { readonly ok: false; readonly retryAfterMs: number };

export type LoginAttempts = {
  /** Counts as failed until `succeeded` is called. `name` is null if no user can have it. */
  begin(name: string | null, address: string): Attempt;
  succeeded(name: string, address: string): void;
};

export function limitLogins({
  attempts,
  windowSeconds = WINDOW_SECONDS,
  maxKeys = MAX_KEYS,
}: LoginLimits): LoginAttempts {
  const limiter = (limit: number) => fixedWindowLimiter({ limit, windowMs: windowSeconds * 1000, maxKeys });
  const pairs = limiter(attempts);
  const addresses = limiter(attempts * OVERALL);
  const names = limiter(attempts * OVERALL);
  const known = new LruMap<true>(maxKeys);
  const pairOf = (name: string, address: string) => `${name} ${address}`;

  return {
    begin(name, address) {
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

    succeeded(name, address) {
      known.set(pairOf(name, address), true);
      addresses.refund(address);
      pairs.reset(pairOf(name, address));
      names.reset(name);
    },
  };
}
