/**
 * Sign-ins of the console. The secret in the cookie is replaced regularly: if one comes back after its successor was used, somebody has a
 * copy of the cookie, and the sign-in ends for both.
 */
import { Fault } from '@parlance/protocol';
import type { Log } from '../core/ports/telemetry.ts';
import { partsOfSignIn, type SignInSecret } from '../http/sign-in-cookie.ts';
import { LruMap } from '../lib/lru-map.ts';
import { hashOf, matches, newId, newSecret } from './key-format.ts';
import type { SignIn, SignInStore, StoredUser, UserStore } from './store.ts';

/** A sign-in ends if it is not used for this long, */
const IDLE_MS = 30 * 24 * 3_600_000;
/** and after this time in any case. */
const MAX_MS = 180 * 24 * 3_600_000;
/** Age at which a secret is replaced. */
const ROTATE_MS = 60 * 60_000;
/** How long the previous secret is valid after its successor was used: for requests that were under way. */
const GRACE_MS = 60_000;
/** How long a sign-in is cached, since a replaced secret is not reported to other nodes. */
const CACHED_MS = 30_000;
const MAX_CACHED = 10_000;
const PER_OWNER = 100;

export type SignInClaims = {
  readonly kind: 'sign-in';
  readonly id: string;
  /** of the user as of now */
  readonly name: string;
  readonly tokenVersion: string;
  readonly validUntil: number;
};

export type NewSignIn = SignInSecret & { readonly key: string };

export type SignInOptions = {
  readonly signIns: SignInStore;
  readonly users: Pick<UserStore, 'find'>;
  /** false while changes might not be noticed in time */
  readonly mayKeep?: (() => boolean) | undefined;
  readonly now: () => number;
  readonly log: Log;
};

type Known = { readonly signIn: SignIn; readonly user: StoredUser; readonly until: number };

const ended = (): Fault => new Fault('unauthenticated', 'The sign-in has ended.');

export function openSignIns({ signIns, users, mayKeep = () => false, now, log }: SignInOptions) {
  let cache = new LruMap<Known>(MAX_CACHED);

  /** Null if it does not exist, has expired, or its user was changed or removed. */
  async function load(id: string): Promise<Known | null> {
    // A change during the reads replaces the cache, so that outdated results are not cached.
    const into = cache;
    const signIn = await signIns.find(id);
    const user = signIn && (await users.find(signIn.owner));
    if (!user || user.tokenVersion !== signIn.tokenVersion) return null;
    const known = { signIn, user, until: now() + CACHED_MS };
    if (mayKeep()) into.set(id, known);
    return known;
  }

  async function known(id: string): Promise<Known | null> {
    const cached = mayKeep() ? cache.get(id) : undefined;
    const found = cached && cached.until > now() ? cached : await load(id);
    return found && found.signIn.expiresAt > now() ? found : null;
  }

  async function end(id: string): Promise<void> {
    cache.delete(id);
    await signIns.remove(id);
  }

  /** Throws `unauthenticated` unless cookie and key belong to a sign-in. */
  async function checked(token: string): Promise<Known & { readonly secret: string }> {
    const parts = partsOfSignIn(token);
    if (!parts) throw ended();
    const { id, secret, key } = parts;
    const isCurrent = ({ signIn }: Known) => matches(secret, signIn.hash);
    let found = await known(id);
    // The secret may have been replaced since it was cached.
    if (found && !isCurrent(found)) found = await load(id);
    if (!found || found.signIn.expiresAt <= now() || !matches(key, found.signIn.keyHash)) throw ended();
    const { signIn } = found;
    if (isCurrent(found)) {
      if (!signIn.seen) await seen(found);
      return { ...found, secret };
    }
    if (signIn.previousHash === null || !matches(secret, signIn.previousHash)) throw ended();
    // If nobody has used the new secret, the answer with it was lost.
    if (!signIn.seen || now() - signIn.rotatedAt <= GRACE_MS) return { ...found, secret };
    await end(id);
    log.warn({ user: signIn.owner, signIn: id }, 'ended a sign-in whose cookie was used twice');
    throw ended();
  }

  async function seen(found: Known): Promise<void> {
    const { id, hash } = found.signIn;
    try {
      await signIns.markSeen(id, hash);
      if (mayKeep()) cache.set(id, { ...found, signIn: { ...found.signIn, seen: true } });
    } catch (err) {
      // The disk may be full: the previous secret is valid for longer then.
      log.warn({ err, signIn: id }, 'failed to record the use of a sign-in');
    }
  }

  return {
    /** The user, with the id of the sign-in. Throws `unauthenticated`. */
    async read(token: string): Promise<{ readonly id: string; readonly user: StoredUser }> {
      const { signIn, user } = await checked(token);
      return { id: signIn.id, user };
    },

    /** For connections that are open, and for tokens of the sign-in. Throws `unauthenticated`. */
    async claims(id: string): Promise<SignInClaims> {
      const found = await known(id);
      if (!found) throw ended();
      const { name, tokenVersion } = found.user;
      return { kind: 'sign-in', id, name, tokenVersion, validUntil: found.signIn.expiresAt };
    },

    /** Throws `unauthenticated` if the user has just been changed. */
    async create({ name, tokenVersion }: StoredUser): Promise<NewSignIn> {
      const [id, secret, key, at] = [newId(), newSecret(), newSecret(), now()];
      const expiresAt = at + IDLE_MS;
      const added = await signIns.add(
        {
          ...{ id, owner: name, tokenVersion, keyHash: hashOf(key), hash: hashOf(secret) },
          ...{ previousHash: null, seen: false, createdAt: at, rotatedAt: at, expiresAt },
        },
        PER_OWNER,
      );
      if (!added) throw new Fault('unauthenticated', 'Invalid credentials');
      return { id, secret, key, expiresAt };
    },

    /** Replaces the secret if it is old; null if not, and if another request has just done it. Throws `unauthenticated`. */
    async refresh(token: string): Promise<SignInSecret | null> {
      const { signIn, secret } = await checked(token);
      const at = now();
      const isLost = !matches(secret, signIn.hash) && at - signIn.rotatedAt > GRACE_MS;
      if (!isLost && (at - signIn.rotatedAt < ROTATE_MS || !matches(secret, signIn.hash))) return null;
      const next = newSecret();
      const expiresAt = Math.min(at + IDLE_MS, signIn.createdAt + MAX_MS);
      const rotation = { hash: hashOf(next), previousHash: hashOf(secret), rotatedAt: at, expiresAt };
      cache.delete(signIn.id);
      if (!(await signIns.rotate(signIn.id, signIn.hash, rotation))) return null;
      cache.delete(signIn.id);
      return { id: signIn.id, secret: next, expiresAt };
    },

    end,

    /** Drops what is cached, since users or sign-ins may have changed. */
    changed() {
      cache = new LruMap(MAX_CACHED);
    },
  };
}
