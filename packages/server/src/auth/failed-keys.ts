/**
 * Limits lookups of invalid keys per address. Keys cannot be guessed; this protects the store. Keys that were
 * valid before are always looked up, so that a client with a revoked key does not block others behind the
 * same address.
 */
import { Fault } from '@parlance/protocol';
import type { LoginLimits } from '../core/ports/login-attempts.ts';
import { fixedWindowLimiter } from '../http/rate-limiter.ts';
import { LruMap } from '../lib/lru-map.ts';

/** Same factor as for failed logins of one address over all names. */
const FACTOR = 10;
const MAX_KEYS = 20_000;
const WINDOW_SECONDS = 15 * 60;

export type FailedKeys = {
  /** Throws `limited` if too many keys from the address were invalid and this one was never valid. */
  admit(id: string | null, address: string | undefined): void;
  succeeded(id: string): void;
  failed(address: string | undefined): void;
};

export function limitFailedKeys(limits: LoginLimits): FailedKeys {
  const { attempts, windowSeconds = WINDOW_SECONDS, maxKeys = MAX_KEYS } = limits;
  const failures = fixedWindowLimiter({ limit: attempts * FACTOR, windowMs: windowSeconds * 1000, maxKeys });
  const known = new LruMap<true>(maxKeys);

  return {
    admit(id, address) {
      if (address === undefined || (id !== null && known.get(id))) return;
      // Only failures count, since many first requests with a valid key may arrive concurrently.
      const { allowed, resetMs } = failures.take(address);
      failures.refund(address);
      if (!allowed)
        throw new Fault('limited', 'Too many invalid API keys.', { retryAfterMs: Math.max(1, resetMs) });
    },
    succeeded: (id) => known.set(id, true),
    failed(address) {
      if (address !== undefined) failures.take(address);
    },
  };
}
