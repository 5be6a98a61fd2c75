/** Tokens that sockets and streams live on, and whom to tell when one is no longer good. */
import { Fault } from '@parlance/protocol';
import type { Log } from '../core/ports/logger.ts';
import type { TokenClaims } from './tokens.ts';

const EXPIRED = 'The token has expired.';
const REVOKED = 'The token was revoked.';

/**
 * How often expiry is compared with the wall clock. A timer for the time that is left would be late after the machine
 * was suspended or its clock was set.
 */
const EXPIRY_CHECK_MS = 1_000;

/** How many tokens are looked at before others have their turn. */
const AT_ONCE = 500;

type Watcher = { readonly ended: (reason: string) => void };
type Live = { readonly watchers: Set<Watcher>; claims: TokenClaims | null };

export type LiveTokens = {
  onTokenRevoked(token: string, ended: (reason: string) => void): () => void;
  /** That token was revoked here. */
  revoked(id: string): void;
  /** Users or revocations may have changed. */
  lookAgain(): void;
  stop(): void;
};

export type LiveTokenOptions = {
  /** Throws `unauthenticated` for a token that is not good. */
  readonly read: (token: string) => Promise<TokenClaims>;
  /** whether a token that was good is so still, apart from its expiry */
  readonly isGood: (claims: TokenClaims) => Promise<boolean>;
  readonly now: () => number;
  readonly log: Log;
};

export function watchTokens({ read, isGood, now, log }: LiveTokenOptions): LiveTokens {
  /** by token: many sockets may share one */
  const live = new Map<string, Live>();
  let pass: { again: boolean } | null = null;
  let expiryCheck: Timer | null = null;

  function end(token: string, entry: Live, reason: string): void {
    forget(token, entry);
    for (const { ended } of [...entry.watchers]) {
      try {
        ended(reason);
      } catch (thrown) {
        log.error({ err: thrown }, 'a reader of a token that ended could not be let go');
      }
    }
    entry.watchers.clear();
  }

  function forget(token: string, entry: Live): void {
    if (live.get(token) === entry) live.delete(token);
    if (live.size > 0 || expiryCheck === null) return;
    clearInterval(expiryCheck);
    expiryCheck = null;
  }

  /** Reads what is stored now, so that a change which is told while it reads is seen by the look that follows. */
  async function look(token: string, entry: Live): Promise<void> {
    try {
      entry.claims ??= await read(token);
      const good = await isGood(entry.claims);
      if (!good && live.get(token) === entry) end(token, entry, REVOKED);
    } catch (thrown) {
      if (live.get(token) !== entry) return;
      if (thrown instanceof Fault && thrown.code === 'unauthenticated') end(token, entry, EXPIRED);
      else log.error({ err: thrown }, 'a token could not be looked at again');
    }
  }

  function endExpired(): void {
    const at = now();
    for (const [token, entry] of [...live])
      if (entry.claims && entry.claims.goodUntil <= at) end(token, entry, EXPIRED);
  }

  /** One after another, so that many do not hold up everybody else; a change that comes meanwhile begins it again. */
  async function lookAtAll(): Promise<void> {
    const current = { again: false };
    pass = current;
    let looked = 0;
    for (const [token, entry] of [...live]) {
      if (live.get(token) === entry) await look(token, entry);
      if (++looked % AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    pass = null;
    if (current.again) await lookAtAll();
  }

  return {
    onTokenRevoked(token, ended) {
      const known = live.get(token);
      const entry: Live = known ?? { watchers: new Set(), claims: null };
      const watcher = { ended };
      entry.watchers.add(watcher);
      if (!known) {
        live.set(token, entry);
        expiryCheck ??= setInterval(endExpired, EXPIRY_CHECK_MS).unref();
        void look(token, entry);
      }
      return () => {
        entry.watchers.delete(watcher);
        if (entry.watchers.size === 0) forget(token, entry);
      };
    },

    revoked(id) {
      for (const [token, entry] of [...live]) if (entry.claims?.id === id) end(token, entry, REVOKED);
    },

    lookAgain() {
      if (pass) pass.again = true;
      else void lookAtAll();
    },

    stop() {
      for (const [token, entry] of [...live]) forget(token, entry);
    },
  };
}
