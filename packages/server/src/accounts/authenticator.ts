/** Resolves tokens, API keys, sign-ins and passwords to principals. */
import { asFault, Fault, type Principal, PrincipalId, ROLE_PERMISSIONS, Role } from '@parlance/protocol';
import { type Log, type Meter, NO_METER } from '../core/ports/telemetry.ts';
import type { Authenticator, Caller } from '../http/authenticator.ts';
import { isApiKey } from '../http/request-identity.ts';
import { isSignIn, partsOfSignIn, SIGN_IN_PREFIX } from '../http/sign-in-cookie.ts';
import { LruMap } from '../lib/lru-map.ts';
import { type KeyClaims, openKeyring } from './keyring.ts';
import { type Claims, watchTokens } from './live-tokens.ts';
import { limitLogins } from './login-limit.ts';
import { verifyPassword } from './passwords.ts';
import { openSignIns } from './sign-ins.ts';
import type {
  ApiKeyStore,
  LoginAttempts,
  LoginLimits,
  PairingStore,
  RevocationStore,
  SignInStore,
  StoredUser,
  UserStore,
} from './store.ts';
import { notValid, openTokens, type TokenClaims } from './tokens.ts';
import { nameProblem } from './users.ts';

/** Maximum number of cached token holders. */
const MAX_KEPT = 10_000;

export type AuthenticatorOptions = {
  readonly users: UserStore;
  readonly apiKeys: ApiKeyStore;
  readonly pairings: PairingStore;
  readonly revocations: RevocationStore;
  readonly signIns: SignInStore;
  readonly secret: Uint8Array<ArrayBuffer>;
  /** in open mode, a caller without a token is the principal `local`; an invalid token is still refused */
  readonly open: boolean;
  readonly limits: LoginLimits;
  /** counts failed logins; in memory by default */
  readonly attempts?: LoginAttempts;
  readonly log: Log;
  readonly meter?: Meter;
  /** in milliseconds */
  readonly now?: () => number;
};

const principalOf = (user: StoredUser): Principal => ({
  id: PrincipalId.parse(user.name),
  role: user.role,
  permissions: ROLE_PERMISSIONS[user.role],
});

const principalOfKey = ({ id, name, role, dialects, origin }: KeyClaims): Principal => ({
  id: PrincipalId.parse(name),
  role,
  permissions: ROLE_PERMISSIONS[role],
  ...(dialects && { dialects }),
  // A paired extension is not an API key.
  ...(origin === undefined && { apiKey: id }),
});

/**
 * Whether the caller can be the extension. Chromium sends no `Origin` with GET requests of extensions to hosts
 * that they have permission for; `Sec-Fetch-Site` is `none` then, which no page can send.
 */
const isFrom = (origin: string, caller: Caller | undefined): boolean =>
  caller?.origin == null ? caller?.site === 'none' : caller.origin === origin;

/** Closing stops the revocation watch. Open connections stay open. */
export function openAuthenticator(options: AuthenticatorOptions): Authenticator & { close(): Promise<void> } {
  const {
    users,
    apiKeys,
    pairings,
    revocations,
    secret,
    open,
    limits,
    log,
    meter = NO_METER,
    now = Date.now,
  } = options;
  const tokens = openTokens(secret, now);
  const attempts = options.attempts ?? limitLogins(options.limits);
  const find = async (name: string) => (nameProblem(name) === null ? users.find(name) : null);

  /** holders by token id, cached while the store allows it */
  let kept = new LruMap<StoredUser>(MAX_KEPT);

  /**
   * Null if the token was revoked, or its user was removed or changed: each change of a user increments the
   * token version.
   */
  async function holderOf({ id, name, tokenVersion, signIn }: TokenClaims): Promise<StoredUser | null> {
    const known = revocations.mayKeep?.() ? kept.get(id) : undefined;
    if (known) return known;
    if (signIn !== undefined && !(await isSignedIn(signIn))) return null;
    // A change during the reads replaces the map, so that outdated results are not cached.
    const into = kept;
    const user = await find(name);
    if (user?.tokenVersion !== tokenVersion || (await revocations.has(id))) return null;
    if (revocations.mayKeep?.()) into.set(id, user);
    return user;
  }

  const isSignedIn = (id: string): Promise<boolean> =>
    signIns.claims(id).then(
      () => true,
      (thrown) => {
        if (asFault(thrown).code === 'unauthenticated') return false;
        throw thrown;
      },
    );

  const keyring = openKeyring({
    keys: apiKeys,
    pairings,
    open,
    users,
    limits,
    mayKeep: revocations.mayKeep,
    now,
    log,
  });
  const signIns = openSignIns({
    signIns: options.signIns,
    users,
    mayKeep: revocations.mayKeep,
    now,
    log,
  });

  /**
   * An API key is watched together with the role it granted: `watched` contains both, separated by a blank.
   */
  async function readWatched(watched: string): Promise<Claims> {
    if (isSignIn(watched)) return signIns.claims(watched.slice(SIGN_IN_PREFIX.length));
    if (!isApiKey(watched)) return tokens.verify(watched);
    const [key = '', role] = watched.split(' ');
    const claims = await keyring.read(key);
    return { ...claims, role: Role.safeParse(role).data ?? claims.role };
  }

  /** If a key grants a different role now, connections opened with the old one are invalid. */
  async function isValid(claims: Claims, watched: string): Promise<boolean> {
    // It has just been read.
    if ('kind' in claims && claims.kind === 'sign-in') return true;
    if (!('kind' in claims)) return (await holderOf(claims)) !== null;
    const [key = ''] = watched.split(' ');
    return (await keyring.read(key)).role === claims.role;
  }

  const live = watchTokens({ read: readWatched, isValid, now, log });
  const endFollow = revocations.follow(() => {
    kept = new LruMap(MAX_KEPT);
    keyring.changed();
    signIns.changed();
    live.recheck();
  });

  async function holding(token: string): Promise<{ claims: TokenClaims; user: StoredUser }> {
    const claims = await tokens.verify(token);
    const user = await holderOf(claims);
    if (user === null) throw notValid();
    return { claims, user };
  }

  /** The user, if the password is right. Throws `unauthenticated` and `limited`. */
  async function withPassword(name: string, password: string, address: string): Promise<StoredUser> {
    const key = nameProblem(name) === null ? name : null;
    const attempt = await attempts.begin(key, address);
    if (!attempt.ok) {
      meter.add('logins', 'limited');
      throw new Fault('limited', 'Too many failed logins.', { retryAfterMs: attempt.retryAfterMs });
    }
    const user = await find(name);
    const matches = await verifyPassword(password, user?.passwordHash ?? null);
    if (user === null || !matches) {
      meter.add('logins', 'refused');
      throw new Fault('unauthenticated', 'Invalid credentials');
    }
    await attempts.succeeded(name, address);
    meter.add('logins', 'accepted');
    return user;
  }

  function requireSignIn(token: string): void {
    if (!isSignIn(token)) throw new Fault('forbidden', 'Only the console has a sign-in with a cookie.');
  }

  return {
    open,

    async verify(token, caller) {
      if (isSignIn(token)) return principalOf((await signIns.read(token)).user);
      if (!isApiKey(token)) return principalOf((await holding(token)).user);
      const claims = await keyring.read(token, caller?.address);
      if (claims.origin !== undefined && !isFrom(claims.origin, caller))
        throw new Fault('forbidden', 'This token is valid only in the browser extension it was issued to.');
      keyring.used(claims.id);
      return principalOfKey(claims);
    },

    async keyOf(token) {
      if (!isApiKey(token)) return null;
      try {
        const { id, origin = null, validUntil, administration } = await keyring.read(token);
        return { id, origin, expiresAt: Number.isFinite(validUntil) ? validUntil : null, administration };
      } catch (thrown) {
        if (asFault(thrown).code === 'unauthenticated') return null;
        throw thrown;
      }
    },

    async login(name, password, address) {
      const user = await withPassword(name, password, address);
      return { ...(await tokens.issue(user)), principal: principalOf(user) };
    },

    async signIn(name, password, address) {
      const user = await withPassword(name, password, address);
      return { ...(await signIns.create(user)), principal: principalOf(user) };
    },

    async refresh(token) {
      requireSignIn(token);
      return signIns.refresh(token);
    },

    async tokenFor(token) {
      requireSignIn(token);
      const { id, user } = await signIns.read(token);
      return { ...(await tokens.issue(user, id)), principal: principalOf(user) };
    },

    async revoke(token) {
      if (isSignIn(token)) {
        const { id } = await signIns.read(token);
        return signIns.end(id);
      }
      if (isApiKey(token)) {
        await keyring.read(token);
        throw new Fault('forbidden', 'An API key cannot log out: revoke it.');
      }
      const { claims } = await holding(token);
      await revocations.add(claims.id, claims.validUntil);
      kept = new LruMap(MAX_KEPT);
      live.revoked(claims.id);
    },

    /** The secret of a sign-in changes while its connections are open: they are watched by its id. */
    onTokenRevoked(token, ended, granted) {
      const signIn = partsOfSignIn(token);
      if (signIn) return live.onTokenRevoked(SIGN_IN_PREFIX + signIn.id, ended);
      return live.onTokenRevoked(isApiKey(token) && granted ? `${token} ${granted.role}` : token, ended);
    },

    async close() {
      endFollow();
      live.stop();
      await keyring.close();
    },
  };
}
