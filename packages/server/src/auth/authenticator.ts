/** Resolves tokens and passwords to principals. */
import { Fault, type Principal, PrincipalId, ROLE_PERMISSIONS } from '@parlance/protocol';
import type { Log } from '../core/ports/logger.ts';
import { type Meter, NO_METER } from '../core/ports/meter.ts';
import type { RevocationStore } from '../core/ports/revocations.ts';
import type { KeptUser, UserStore } from '../core/ports/users.ts';
import type { Authenticator } from '../http/authenticator.ts';
import { watchTokens } from './live-tokens.ts';
import { type LoginLimits, limitLogins } from './login-limit.ts';
import { verifyPassword } from './passwords.ts';
import { notValid, openTokens, type TokenClaims } from './tokens.ts';
import { nameProblem } from './users.ts';

export type AuthenticatorOptions = {
  readonly users: UserStore;
  readonly revocations: RevocationStore;
  readonly secret: Uint8Array<ArrayBuffer>;
  /** in open mode a caller without a token is the principal `local`; a bad token is still refused */
  readonly open: boolean;
  readonly limits: LoginLimits;
  readonly log: Log;
  readonly meter?: Meter;
  /** in milliseconds */
  readonly now?: () => number;
};

const principalOf = (user: KeptUser): Principal => ({
  id: PrincipalId.parse(user.name),
  role: user.role,
  permissions: ROLE_PERMISSIONS[user.role],
});

/** Stops the revocation watch. Open connections stay open. */
export function openAuthenticator(options: AuthenticatorOptions): Authenticator & { close(): void } {
  const { users, revocations, secret, open, limits, log, meter = NO_METER, now = Date.now } = options;
  const tokens = openTokens(secret, now);
  const attempts = limitLogins(limits);
  const find = async (name: string) => (nameProblem(name) === null ? users.find(name) : null);

  /** Null if the token was revoked, or its user was removed or changed: each change of a user increments the token version. */
  async function holderOf({ id, name, tokenVersion }: TokenClaims): Promise<KeptUser | null> {
    const user = await find(name);
    return user?.tokenVersion === tokenVersion && !(await revocations.has(id)) ? user : null;
  }

  const isValid = async (claims: TokenClaims) => (await holderOf(claims)) !== null;
  const live = watchTokens({ read: tokens.verify, isValid, now, log });
  const endFollow = revocations.follow(live.recheck);

  async function holding(token: string): Promise<{ claims: TokenClaims; user: KeptUser }> {
    const claims = await tokens.verify(token);
    const user = await holderOf(claims);
    if (user === null) throw notValid();
    return { claims, user };
  }

  return {
    open,

    verify: async (token) => principalOf((await holding(token)).user),

    async login(name, password, address) {
      const key = nameProblem(name) === null ? name : null;
      const attempt = attempts.begin(key, address);
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
      attempts.succeeded(name, address);
      meter.add('logins', 'accepted');
      return { ...(await tokens.issue(user)), principal: principalOf(user) };
    },

    async revoke(token) {
      const { claims } = await holding(token);
      await revocations.add(claims.id, claims.validUntil);
      live.revoked(claims.id);
    },

    onTokenRevoked: live.onTokenRevoked,

    close() {
      endFollow();
      live.stop();
    },
  };
}
