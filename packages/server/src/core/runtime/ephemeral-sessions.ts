/**
 * Erases unused ephemeral sessions. While in use they are stored like any other, so that a turn survives the end of
 * the process.
 */
import { statusOf } from '../domain/session-state.ts';
import { type EventStore, type SessionRecord, type SessionRef, sessionKey } from '../ports/event-store.ts';
import type { Log } from '../ports/logger.ts';
import type { LiveSession } from './live-session.ts';
import type { SessionCache } from './session-cache.ts';

export type EphemeralOptions = {
  /** how long a session is kept that does not run, is not watched and is not requested */
  readonly idleMs: number;
  /** no other process uses the store: idle sessions at the start were left by an earlier process */
  readonly alone: boolean;
};

/** Maximum interval of the checks. */
const MOST_INTERVAL_MS = 60_000;
/** Checks during `idleMs`: a node tells the others in time that it uses a session. */
const CHECKS = 4;
const PAGE = 100;
const BY = 'server';

type Deps = {
  readonly store: EventStore;
  readonly sessions: SessionCache;
  readonly now: () => number;
  readonly log: Log;
};

export class EphemeralSessions {
  /** when a session was last found in use */
  #usedAt = new Map<string, number>();
  #timer: ReturnType<typeof setInterval> | undefined;
  #sweeping: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(
    private readonly deps: Deps,
    private readonly options: EphemeralOptions,
  ) {}

  /** Erases sessions that an earlier process left idle, if this one is alone, and then checks the sessions regularly. */
  async start(): Promise<void> {
    const { idleMs, alone } = this.options;
    if (alone) await this.#inTurn(() => this.#eraseEach(isIdle));
    if (this.#stopped) return;
    const sweep = () => this.#inTurn(() => this.sweep());
    this.#timer = setInterval(sweep, Math.min(alone ? idleMs : idleMs / CHECKS, MOST_INTERVAL_MS));
    this.#timer.unref();
  }

  /** Resolves when no session is being erased. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    await this.#sweeping;
  }

  /**
   * Erases the sessions that were not used for `idleMs`. Those that are used here and were not changed for half of that time
   * are touched, so that other nodes keep them.
   */
  async sweep(): Promise<void> {
    const { now, sessions, store } = this.deps;
    const { idleMs, alone } = this.options;
    const at = now();
    const usedAt = new Map<string, number>();
    const touched: SessionRef[] = [];
    const kept = await this.#eraseEach((record) => {
      if (record.status === 'running') return false;
      const key = sessionKey(record.ref);
      const used = sessions.usedLately(record.ref)
        ? at
        : Math.max(record.updatedAt, this.#usedAt.get(key) ?? 0);
      if (!alone && used === at && record.updatedAt + idleMs / 2 <= at) touched.push(record.ref);
      if (used + idleMs <= at) return true;
      usedAt.set(key, used);
      return false;
    });
    for (const ref of kept) usedAt.set(sessionKey(ref), at);
    this.#usedAt = usedAt;
    for (const ref of touched) await store.touch(ref, at);
  }

  #inTurn(work: () => Promise<unknown>): Promise<void> {
    const done = this.#sweeping.then(work).then(() => undefined);
    this.#sweeping = done.catch((err) => {
      this.deps.log.warn({ err }, 'ephemeral sessions could not be erased');
    });
    return this.#sweeping;
  }

  /** Returns the wanted ones that could not be erased: someone uses them, on this node or on another. */
  async #eraseEach(wanted: (record: SessionRecord) => boolean): Promise<SessionRef[]> {
    const kept: SessionRef[] = [];
    let cursor: string | undefined;
    do {
      const query = { ephemeral: 'only', archived: 'included', limit: PAGE, cursor } as const;
      const page = await this.deps.store.list(query);
      for (const record of page.sessions.filter(wanted)) {
        if (this.#stopped) return kept;
        if (!(await this.#erase(record))) kept.push(record.ref);
      }
      cursor = page.next ?? undefined;
    } while (cursor !== undefined);
    return kept;
  }

  async #erase({ ref, head }: SessionRecord): Promise<boolean> {
    const { sessions, log } = this.deps;
    try {
      const fits = ({ state }: LiveSession) => state.seq === head && statusOf(state) !== 'running';
      return await sessions.eraseUnused(ref, BY, fits);
    } catch (thrown) {
      log.warn({ err: thrown, session: ref.id }, 'ephemeral session could not be erased');
      return false;
    }
  }
}

const isIdle = ({ status }: SessionRecord): boolean => status === 'idle' || status === 'failed';
