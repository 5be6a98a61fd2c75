/** Resolves API keys, and tokens of paired extensions, to their permissions. */
import { Fault, LOCAL, type Role } from '@parlance/protocol';
import type { Log } from '../core/ports/telemetry.ts';
import { fixedWindowLimiter } from '../http/rate-limiter.ts';
import { LruMap } from '../lib/lru-map.ts';
import { idOf, matches } from './key-format.ts';
import {
  type ApiKey,
  type ApiKeyStore,
  LOGIN_WINDOW_SECONDS,
  type LoginLimits,
  OVERALL_FACTOR,
  type Pairing,
  type PairingStore,
  type UserStore,
} from './store.ts';

/** Maximum number of keys in memory. */
const MAX_CACHED = 10_000;

export type KeyClaims = Pick<ApiKey, 'id' | 'dialects' | 'administration'> & {
  readonly kind: 'key';
  /** the user that the key acts as */
  readonly name: string;
  /** the role that the key currently grants */
  readonly role: Role;
  /** set for a paired extension */
  readonly origin?: string;
  /** when the key expires, in milliseconds */
  readonly validUntil: number;
};

export type Keyring = {
  /**
   * Throws `unauthenticated` unless the key is currently valid, and `limited` after too many invalid ones
   * from `address`. Records no use.
   */
  read(text: string, address?: string): Promise<KeyClaims>;
  used(id: string): void;
  /** Drops cached keys, since users or keys may have changed. */
  changed(): void;
  close(): Promise<void>;
};

export type KeyringOptions = {
  readonly keys: ApiKeyStore;
  readonly pairings: Pick<PairingStore, 'find' | 'used'>;
  /** in open mode, extensions paired without a login act as `local` */
  readonly open: boolean;
  readonly users: Pick<UserStore, 'find'>;
  readonly limits: LoginLimits;
  /** false while changes might not be noticed in time */
  readonly mayKeep?: () => boolean;
  readonly now: () => number;
  readonly log: Log;
};

type CachedKey = { readonly hash: string; readonly claims: KeyClaims };

export function openKeyring(options: KeyringOptions): Keyring {
  const { keys, pairings, open, users, limits, mayKeep = () => true, now, log } = options;
  let cache = new LruMap<CachedKey>(MAX_CACHED);
  const failed = limitFailedKeys(limits);
  const use = recordKeyUse(
    { used: async (times) => void (await Promise.all([keys.used(times), pairings.used(times)])) },
    log,
  );

  async function load(id: string): Promise<CachedKey | null> {
    // A change during the reads replaces the cache, so that outdated results are not cached.
    const into = cache;
    const known = (await keyWith(id)) ?? (await pairingWith(id));
    if (known) into.set(id, known);
    return known;
  }

  async function keyWith(id: string): Promise<CachedKey | null> {
    const key = await keys.find(id);
    const user = key && (await users.find(key.owner));
    if (!key || !user) return null;
    const { owner: name, dialects, administration } = key;
    return cached(key, user.role, { name, dialects, administration });
  }

  async function pairingWith(id: string): Promise<CachedKey | null> {
    const pairing = await pairings.find(id);
    if (!pairing) return null;
    if (pairing.owner === null) return open ? ofExtension(pairing, LOCAL.id, LOCAL.role) : null;
    const user = await users.find(pairing.owner);
    return user && ofExtension(pairing, user.name, user.role);
  }

  return {
    async read(text, address) {
      const id = idOf(text);
      let known = id === null || !mayKeep() ? undefined : cache.get(id);
      if (!known) {
        failed.admit(id, address);
        known = (id !== null && (await load(id))) || undefined;
      }
      if (!known || !matches(text, known.hash) || known.claims.validUntil <= now()) {
        failed.failed(address);
        throw new Fault('unauthenticated', 'The API key is not valid, has expired or was revoked.');
      }
      failed.succeeded(known.claims.id);
      return known.claims;
    },

    used: (id) => use.used(id, now()),

    changed() {
      cache = new LruMap(MAX_CACHED);
    },

    close: () => use.close(),
  };
}

/** In ascending order. */
const ROLES: readonly Role[] = ['user', 'developer', 'admin'];

/** Whether `role` grants no more than `other`. */
export const isWithin = (role: Role, other: Role): boolean => ROLES.indexOf(role) <= ROLES.indexOf(other);

/** What a key or a paired extension grants of its owner's role. */
const cached = (
  { hash, id, role, expiresAt }: ApiKey | Pairing,
  ownersRole: Role,
  more: Pick<KeyClaims, 'name' | 'dialects' | 'administration' | 'origin'>,
): CachedKey => ({
  hash,
  claims: {
    kind: 'key',
    id,
    role: isWithin(role, ownersRole) ? role : ownersRole,
    validUntil: expiresAt ?? Number.POSITIVE_INFINITY,
    ...more,
  },
});

const ofExtension = (pairing: Pairing, name: string, ownersRole: Role): CachedKey =>
  cached(pairing, ownersRole, { name, dialects: null, administration: false, origin: pairing.origin });

// Limits lookups of invalid keys per address. Keys cannot be guessed; this protects the store. Keys that were
// valid before are always looked up, so that a client with a revoked key does not block others behind the
// same address.

const MAX_KEYS = 20_000;

type FailedKeys = {
  /** Throws `limited` if too many keys from the address were invalid and this one was never valid. */
  admit(id: string | null, address: string | undefined): void;
  succeeded(id: string): void;
  failed(address: string | undefined): void;
};

function limitFailedKeys(limits: LoginLimits): FailedKeys {
  const { attempts, windowSeconds = LOGIN_WINDOW_SECONDS, maxKeys = MAX_KEYS } = limits;
  const failures = fixedWindowLimiter({
    limit: attempts * OVERALL_FACTOR,
    windowMs: windowSeconds * 1000,
    maxKeys,
  });
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

// Records the last use of keys: in memory immediately, in the store later and in batches.

/** Delay after the first use, and the minimum interval between two writes. */
const FIRST_MS = 1_000;
const INTERVAL_MS = 60_000;

type KeyUse = {
  /** Cheap, since it is called for every request with a key. */
  used(id: string, at: number): void;
  /** Writes pending uses. */
  close(): Promise<void>;
};

function recordKeyUse(keys: Pick<ApiKeyStore, 'used'>, log: Log): KeyUse {
  let pending = new Map<string, number>();
  let timer: Timer | null = null;
  let written = Number.NEGATIVE_INFINITY;

  async function write(): Promise<void> {
    timer = null;
    if (pending.size === 0) return;
    const times = pending;
    pending = new Map();
    written = performance.now();
    try {
      await keys.used(times);
    } catch (err) {
      // The time of last use is only informational and not worth a retry.
      log.warn({ err }, 'failed to record the use of API keys');
    }
  }

  return {
    used(id, at) {
      pending.set(id, at);
      const wait = Math.max(FIRST_MS, written + INTERVAL_MS - performance.now());
      timer ??= setTimeout(() => void write(), wait).unref();
    },
    async close() {
      if (timer) clearTimeout(timer);
      await write();
    },
  };
}
