/**
 * Erases unused ephemeral sessions. While in use they are stored like any other, so that a turn survives a
 * restart.
 */

import type { Clock, ClockTimer } from '../../lib/clock.ts';
import { type SessionIndex, type SessionRecord, sessionKey } from '../ports/event-store.ts';
import type { Log } from '../ports/telemetry.ts';
import { statusOf } from '../session/session-state.ts';
import type { Session } from './session.ts';
import type { SessionCache } from './session-cache.ts';

export type EphemeralOptions = {
  /** how long to keep a session that is not running, watched or requested */
  readonly idleMs: number;
  /** no other process uses the store: sessions that are idle at startup belong to an earlier process */
  readonly alone: boolean;
};

/** Maximum interval between checks. */
const MAX_INTERVAL_MS = 60_000;
/** Checks per `idleMs`, so that a node touches the sessions it uses before other nodes erase them. */
const CHECKS = 4;
const PAGE = 100;
const BY = 'server';

type Deps = {
  readonly store: Pick<SessionIndex, 'list' | 'touch'>;
  readonly sessions: SessionCache;
  readonly now: () => number;
  readonly clock: Clock;
  readonly log: Log;
};

/** When this node last found a session in use, or changed, by its monotonic clock. */
type Sighting = { readonly updatedAt: number; readonly at: number };

export class EphemeralSessions {
  #seen = new Map<string, Sighting>();
  #timer: ClockTimer | undefined;
  #sweeping: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(
    private readonly deps: Deps,
    private readonly options: EphemeralOptions,
  ) {}

  /** Erases idle sessions of earlier processes if this is the only process, then checks regularly. */
  async start(): Promise<void> {
    const { idleMs, alone } = this.options;
    if (alone) await this.#inTurn(() => this.#eraseEach(isIdle));
    if (this.#stopped) return;
    const sweep = () => this.#inTurn(() => this.sweep());
    this.#timer = this.deps.clock.setInterval(
      sweep,
      Math.min(alone ? idleMs : idleMs / CHECKS, MAX_INTERVAL_MS),
    );
    this.#timer.unref();
  }

  /** Resolves once no erasure is running. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.deps.clock.clear(this.#timer);
    await this.#sweeping;
  }

  /**
   * Erases the sessions that this node has seen unused for `idleMs`: times in the store are those of the clocks of other nodes,
   * which may be wrong. Touches sessions in use on this node that did not change for half of
   * that time, so that other nodes keep them.
   */
  async sweep(): Promise<void> {
    const { now, clock, sessions, store } = this.deps;
    const { idleMs, alone } = this.options;
    const at = clock.elapsed();
    const seen = new Map<string, Sighting>();
    const touched: SessionRecord[] = [];
    const kept = await this.#eraseEach((record) => {
      if (record.status === 'running') return false;
      const key = sessionKey(record.ref);
      const before = this.#seen.get(key);
      const { updatedAt } = record;
      const isUnchanged = before?.updatedAt === updatedAt;
      const isUsed = sessions.usedLately(record.ref);
      // Sessions in use here are touched before another node has seen them unchanged for `idleMs`.
      if (!alone && isUsed && isUnchanged) touched.push(record);
      const used = isUnchanged && !isUsed ? before.at : at;
      if (used + idleMs <= at) return true;
      seen.set(key, { updatedAt, at: used });
      return false;
    });
    for (const { ref, updatedAt } of kept) seen.set(sessionKey(ref), { updatedAt, at });
    this.#seen = seen;
    for (const { ref, updatedAt } of touched) {
      const touchedAt = Math.max(now(), updatedAt + 1);
      await store.touch(ref, touchedAt);
      seen.set(sessionKey(ref), { updatedAt: touchedAt, at });
    }
  }

  #inTurn(work: () => Promise<unknown>): Promise<void> {
    const done = this.#sweeping.then(work).then(() => undefined);
    this.#sweeping = done.catch((err) => {
      this.deps.log.warn({ err }, 'failed to erase ephemeral sessions');
    });
    return this.#sweeping;
  }

  /** Returns the sessions that could not be erased because this or another node uses them. */
  async #eraseEach(matches: (record: SessionRecord) => boolean): Promise<SessionRecord[]> {
    const kept: SessionRecord[] = [];
    let cursor: string | undefined;
    do {
      const query = {
        ephemeral: 'only',
        archived: 'included',
        parent: 'included',
        limit: PAGE,
        cursor,
      } as const;
      const page = await this.deps.store.list(query);
      for (const record of page.sessions.filter(matches)) {
        if (this.#stopped) return kept;
        if (!(await this.#erase(record))) kept.push(record);
      }
      cursor = page.next ?? undefined;
    } while (cursor !== undefined);
    return kept;
  }

  async #erase({ ref, head }: SessionRecord): Promise<boolean> {
    const { sessions, log } = this.deps;
    try {
      const fits = ({ state }: Session) => state.seq === head && statusOf(state) !== 'running';
      return await sessions.eraseUnused(ref, BY, fits);
    } catch (thrown) {
      log.warn({ err: thrown, session: ref.id }, 'failed to erase ephemeral session');
      return false;
    }
  }
}

const isIdle = ({ status }: SessionRecord): boolean => status === 'idle' || status === 'failed';
