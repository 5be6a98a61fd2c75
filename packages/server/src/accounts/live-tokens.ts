/**
 * Tracks tokens and API keys used by open sockets and streams; notifies their listeners when one becomes
 * invalid.
 */
import { Fault } from '@parlance/protocol';
import type { Log } from '../core/ports/telemetry.ts';
import { isApiKey } from '../http/request-identity.ts';
import { isSignIn } from '../http/sign-in-cookie.ts';
import type { KeyClaims } from './keyring.ts';
import type { SignInClaims } from './sign-ins.ts';
import type { TokenClaims } from './tokens.ts';

const kindOf = (token: string) => (isApiKey(token) ? 'API key' : isSignIn(token) ? 'sign-in' : 'token');
const expired = (token: string) => `The ${kindOf(token)} has expired.`;
const revoked = (token: string) => `The ${kindOf(token)} was revoked.`;

/**
 * Interval at which expiry is compared with the wall clock. A timer for the remaining time would fire late after the
 * machine was suspended or its clock was set.
 */
const EXPIRY_CHECK_MS = 1_000;

/** Number of tokens checked before the loop yields. */
const BATCH_SIZE = 500;

type Watcher = { readonly ended: (reason: string) => void };
export type Claims = TokenClaims | KeyClaims | SignInClaims;
type Live = { readonly listeners: Set<Watcher>; claims: Claims | null };

export type LiveTokens = {
  onTokenRevoked(token: string, ended: (reason: string) => void): () => void;
  /** Reports that this process has revoked the token. */
  revoked(id: string): void;
  /** Checks all tokens again, since users or revocations may have changed. */
  recheck(): void;
  stop(): void;
};

export type LiveTokenOptions = {
  /** Throws `unauthenticated` if the token is invalid. */
  readonly read: (token: string) => Promise<Claims>;
  /** whether a previously valid token still is, apart from its expiry */
  readonly isValid: (claims: Claims, token: string) => Promise<boolean>;
  readonly now: () => number;
  readonly log: Log;
};

export function watchTokens({ read, isValid, now, log }: LiveTokenOptions): LiveTokens {
  /** by token, since several sockets may share one */
  const live = new Map<string, Live>();
  let pass: { again: boolean } | null = null;
  let expiryCheck: Timer | null = null;

  function end(token: string, entry: Live, reason: string): void {
    forget(token, entry);
    for (const { ended } of [...entry.listeners]) {
      try {
        ended(reason);
      } catch (thrown) {
        log.error({ err: thrown }, 'failed to close connection after token end');
      }
    }
    entry.listeners.clear();
  }

  function forget(token: string, entry: Live): void {
    if (live.get(token) === entry) live.delete(token);
    if (live.size > 0 || expiryCheck === null) return;
    clearInterval(expiryCheck);
    expiryCheck = null;
  }

  /** Reads the store now, so that a change reported during the read is covered by the next check. */
  async function check(token: string, entry: Live): Promise<void> {
    try {
      // A sign-in is prolonged while it is used.
      if (entry.claims === null || isSignIn(token)) entry.claims = await read(token);
      const valid = await isValid(entry.claims, token);
      if (!valid && live.get(token) === entry) end(token, entry, revoked(token));
    } catch (thrown) {
      if (live.get(token) !== entry) return;
      if (thrown instanceof Fault && thrown.code === 'unauthenticated')
        end(token, entry, isApiKey(token) || isSignIn(token) ? revoked(token) : expired(token));
      else log.error({ err: thrown }, 'token check failed');
    }
  }

  function endExpired(): void {
    const at = now();
    for (const [token, entry] of [...live])
      if (entry.claims && entry.claims.validUntil <= at) {
        if (isSignIn(token)) void check(token, entry);
        else end(token, entry, expired(token));
      }
  }

  /**
   * Sequential and in batches, so that many tokens do not block the event loop; a change during the check
   * restarts it.
   */
  async function checkAll(): Promise<void> {
    const current = { again: false };
    pass = current;
    let checked = 0;
    for (const [token, entry] of [...live]) {
      if (live.get(token) === entry) await check(token, entry);
      if (++checked % BATCH_SIZE === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    pass = null;
    if (current.again) await checkAll();
  }

  return {
    onTokenRevoked(token, ended) {
      const known = live.get(token);
      const entry: Live = known ?? { listeners: new Set(), claims: null };
      const listener = { ended };
      entry.listeners.add(listener);
      if (!known) {
        live.set(token, entry);
        expiryCheck ??= setInterval(endExpired, EXPIRY_CHECK_MS).unref();
        void check(token, entry);
      }
      return () => {
        entry.listeners.delete(listener);
        if (entry.listeners.size === 0) forget(token, entry);
      };
    },

    revoked(id) {
      for (const [token, entry] of [...live]) if (entry.claims?.id === id) end(token, entry, revoked(token));
    },

    recheck() {
      if (pass) pass.again = true;
      else void checkAll();
    },

    stop() {
      for (const [token, entry] of [...live]) forget(token, entry);
    },
  };
}
