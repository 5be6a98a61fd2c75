/** Resolves API keys to what they grant. */
import { Fault, type Role } from '@parlance/protocol';
import type { ApiKey, ApiKeyStore } from '../core/ports/api-keys.ts';
import type { Log } from '../core/ports/logger.ts';
import type { LoginLimits } from '../core/ports/login-attempts.ts';
import type { UserStore } from '../core/ports/users.ts';
import { LruMap } from '../lib/lru-map.ts';
import { limitFailedKeys } from './failed-keys.ts';
import { idOf, matches } from './key-format.ts';
import { recordKeyUse } from './key-use.ts';

/** Maximum number of keys in memory. */
const MAX_CACHED = 10_000;

export type KeyClaims = {
  readonly kind: 'key';
  readonly id: string;
  /** the user that the key acts as */
  readonly name: string;
  /** what the key grants now */
  readonly role: Role;
  readonly dialects: readonly string[] | null;
  /** time in milliseconds from which the key is refused */
  readonly validUntil: number;
};

export type Keyring = {
  /**
   * Throws `unauthenticated` unless the key is valid now, and `limited` if too many from `address` were not. Records no
   * use.
   */
  read(text: string, address?: string): Promise<KeyClaims>;
  used(id: string): void;
  /** Users or keys may have changed: what was read before is read again. */
  changed(): void;
  close(): Promise<void>;
};

export type KeyringOptions = {
  readonly keys: ApiKeyStore;
  readonly users: Pick<UserStore, 'find'>;
  readonly limits: LoginLimits;
  /** false while changes would not be noticed in time */
  readonly mayKeep?: () => boolean;
  readonly now: () => number;
  readonly log: Log;
};

type Known = { readonly hash: string; readonly claims: KeyClaims };

export function openKeyring(options: KeyringOptions): Keyring {
  const { keys, users, limits, mayKeep = () => true, now, log } = options;
  let cache = new LruMap<Known>(MAX_CACHED);
  const failed = limitFailedKeys(limits);
  const use = recordKeyUse(keys, log);

  async function load(id: string): Promise<Known | null> {
    // A change during the reads replaces the cache: what was read before it is not kept.
    const into = cache;
    const key = await keys.find(id);
    const user = key && (await users.find(key.owner));
    if (!key || !user) return null;
    const known = { hash: key.hash, claims: claimsOf(key, user.role) };
    into.set(id, known);
    return known;
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

/** From the least to the most. */
const ROLES: readonly Role[] = ['user', 'developer', 'admin'];

/** Whether `role` grants no more than `other`. */
export const isWithin = (role: Role, other: Role): boolean => ROLES.indexOf(role) <= ROLES.indexOf(other);

const claimsOf = ({ id, owner, role, dialects, expiresAt }: ApiKey, ownersRole: Role): KeyClaims => ({
  kind: 'key',
  id,
  name: owner,
  role: isWithin(role, ownersRole) ? role : ownersRole,
  dialects,
  validUntil: expiresAt ?? Number.POSITIVE_INFINITY,
});
