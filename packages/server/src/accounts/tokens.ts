/** Bearer tokens: JWTs signed with the server's secret. */
import { Fault, ROLE_PERMISSIONS, type Role } from '@parlance/protocol';
import { JOSEError } from 'jose/errors';
import { SignJWT } from 'jose/jwt/sign';
import { jwtVerify } from 'jose/jwt/verify';
import { z } from 'zod';

const ALGORITHM = 'HS256';
const PARLANCE = 'parlance';
const LIFETIME_SECONDS = 24 * 60 * 60;
/** tolerated clock difference between two nodes */
const CLOCK_TOLERANCE_SECONDS = 30;

/**
 * Claims that the server uses. Role and permissions are in the token only for clients; the server reads them
 * from the store.
 */
const Claims = z.object({
  sub: z.string().min(1),
  gen: z.string().min(1),
  jti: z.string().min(1),
  sid: z.string().optional(),
  exp: z.number(),
});

export type TokenClaims = {
  readonly id: string;
  readonly name: string;
  /** token version of the user at the time of issue */
  readonly tokenVersion: string;
  /** the sign-in that it ends with */
  readonly signIn?: string | undefined;
  /** expiry plus the tolerance, in milliseconds */
  readonly validUntil: number;
};

export type Tokens = {
  /** `expiresAt` is in milliseconds since the epoch. */
  issue(
    user: { readonly name: string; readonly role: Role; readonly tokenVersion: string },
    signIn?: string,
  ): Promise<{ token: string; expiresAt: number }>;
  /** Throws `unauthenticated` unless the token is signed by this server and has not expired. */
  verify(token: string): Promise<TokenClaims>;
};

export const notValid = (options?: ErrorOptions): Fault =>
  new Fault('unauthenticated', 'The token is not valid or has expired.', options);

/** `now` is in milliseconds. */
export function openTokens(secret: Uint8Array<ArrayBuffer>, now: () => number = Date.now): Tokens {
  const key = crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, [
    'sign',
    'verify',
  ]);
  return {
    async issue({ name, role, tokenVersion }, signIn) {
      const issuedAt = Math.floor(now() / 1000);
      const expires = issuedAt + LIFETIME_SECONDS;
      const token = await new SignJWT({ role, perms: ROLE_PERMISSIONS[role], gen: tokenVersion, sid: signIn })
        .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
        .setSubject(name)
        .setIssuer(PARLANCE)
        .setAudience(PARLANCE)
        .setJti(crypto.randomUUID())
        .setIssuedAt(issuedAt)
        .setExpirationTime(expires)
        .sign(await key);
      return { token, expiresAt: expires * 1000 };
    },

    async verify(token) {
      try {
        const { payload } = await jwtVerify(token, await key, {
          algorithms: [ALGORITHM],
          issuer: PARLANCE,
          audience: PARLANCE,
          requiredClaims: ['sub', 'exp', 'iat', 'jti'],
          clockTolerance: CLOCK_TOLERANCE_SECONDS,
          currentDate: new Date(now()),
        });
        const { sub, gen, jti, sid, exp } = Claims.parse(payload);
        const validUntil = (exp + CLOCK_TOLERANCE_SECONDS) * 1000;
        return { id: jti, name: sub, tokenVersion: gen, signIn: sid, validUntil };
      } catch (cause) {
        if (!(cause instanceof JOSEError) && !(cause instanceof z.ZodError)) throw cause;
        throw notValid({ cause });
      }
    },
  };
}
