/**
 * How often one may guess. Failed attempts are counted in windows that begin with the first of them and end by
 * themselves, so that nobody is locked out for good:
 *
 * - for a name from an address, which stops who guesses a password;
 * - for an address, over all names, which stops who tries one password on everybody;
 * - for a name, over all addresses from which it has not logged in before, which stops many that guess together.
 *
 * One address can therefore not lock a user out at another, and many cannot at the addresses that the user is known at.
 */
import { BoundedLimiter, BoundedSet } from './bounded-limiter.ts';

/** What an address may fail over all names, and a name over all addresses, in terms of one name from one address. */
const OVERALL = 10;
/** Names and addresses are remembered up to this many of each; then those that were quiet longest are forgotten. */
const MOST_KEYS = 20_000;
const WINDOW_SECONDS = 15 * 60;

export type LoginLimits = {
  /** for one name from one address, in a window */
  readonly attempts: number;
  readonly windowSeconds?: number;
  readonly mostKeys?: number;
};

export type Attempt = { readonly ok: true } | { readonly ok: false; readonly retryAfterMs: number };

export type LoginAttempts = {
  /** Counts as failed until it has succeeded. `name` is null where it is none that a user could have. */
  begin(name: string | null, address: string): Promise<Attempt>;
  succeeded(name: string, address: string): Promise<void>;
};

export function limitLogins({
  attempts,
  windowSeconds = WINDOW_SECONDS,
  mostKeys = MOST_KEYS,
}: LoginLimits): LoginAttempts {
  const limiter = (points: number) => new BoundedLimiter(points, windowSeconds, mostKeys);
  const pairs = limiter(attempts);
  const addresses = limiter(attempts * OVERALL);
  const names = limiter(attempts * OVERALL);
  const known = new BoundedSet(mostKeys);
  const pairOf = (name: string, address: string) => `${name} ${address}`;

  return {
    async begin(name, address) {
      const counted: (() => Promise<void>)[] = [];
      const count = async (limiter: BoundedLimiter, key: string): Promise<number> => {
        const waitMs = await limiter.consume(key);
        counted.push(() => limiter.giveBack(key));
        return waitMs;
      };
      let waitMs = await count(addresses, address);
      if (name !== null && waitMs === 0) waitMs = await count(pairs, pairOf(name, address));
      if (name !== null && waitMs === 0 && !known.has(pairOf(name, address)))
        waitMs = await count(names, name);
      if (waitMs === 0) return { ok: true };
      // Nothing was guessed: an attempt that is refused here tells nothing, and so costs nothing.
      for (const giveBack of counted) await giveBack();
      return { ok: false, retryAfterMs: waitMs };
    },

    async succeeded(name, address) {
      known.add(pairOf(name, address));
      await addresses.giveBack(address);
      await pairs.reset(pairOf(name, address));
      await names.reset(name);
    },
  };
}
