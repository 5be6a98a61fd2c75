/** Tokens that sockets and streams live on, and whom to tell when one is no longer good. */
import { Fault } from '@parlance/protocol';
import type { Log } from '../core/ports/log.ts';
import type { TokenClaims } from './tokens.ts';

const EXPIRED = 'The token has expired.';
const REVOKED = 'The token was revoked.';

/** The longest that a timer can wait. */
const MOST_MS = 2 ** 31 - 1;

/** How many tokens are looked at before others have their turn. */
const AT_ONCE = 500;

type Watcher = { readonly ended: (reason: string) => void };
type Live = { readonly watchers: Set<Watcher>; claims: TokenClaims | null; timer: Timer | null };

export type LiveTokens = {
  guard(token: string, ended: (reason: string) => void): () => void;
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
    if (entry.timer) clearTimeout(entry.timer);
    if (live.get(token) === entry) live.delete(token);
  }

  /** Reads what is stored now, so that a change which is told while it reads is seen by the look that follows. */
  async function look(token: string, entry: Live): Promise<void> {
    try {
      entry.claims ??= await read(token);
      if (live.get(token) === entry && !entry.timer) waitForExpiry(token, entry, entry.claims.goodUntil);
      const good = await isGood(entry.claims);
      if (!good && live.get(token) === entry) end(token, entry, REVOKED);
    } catch (thrown) {
      if (live.get(token) !== entry) return;
      if (thrown instanceof Fault && thrown.code === 'unauthenticated') end(token, entry, EXPIRED);
      else log.error({ err: thrown }, 'a token could not be looked at again');
    }
  }

  function waitForExpiry(token: string, entry: Live, goodUntil: number): void {
    const left = goodUntil - now();
    const later = () => waitForExpiry(token, entry, goodUntil);
    if (left <= 0) end(token, entry, EXPIRED);
    else entry.timer = setTimeout(later, Math.min(left, MOST_MS)).unref();
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
    guard(token, ended) {
      const known = live.get(token);
      const entry: Live = known ?? { watchers: new Set(), claims: null, timer: null };
      const watcher = { ended };
      entry.watchers.add(watcher);
      if (!known) {
        live.set(token, entry);
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
