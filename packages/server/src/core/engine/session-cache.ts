/** The sessions in memory: one object per session, even if several callers load it concurrently. */
import type { AgentRef } from '@parlance/protocol';
import { type SessionRef, sessionKey } from '../ports/event-store.ts';
import type { SessionSources } from './session.ts';
import { Session } from './session.ts';

type Entry = {
  readonly loading: Promise<Session>;
  session: Session | null;
  pins: number;
  /** used since the last call to `usedLately` */
  used: boolean;
  /** of the session when it was last used, or last waited */
  characters: number;
};

/** Entries checked for each new session: more than one, so that the cache shrinks again. */
const MAX_CHECKS = 16;

export class SessionCache {
  readonly #entries = new Map<string, Entry>();
  readonly #sources: SessionSources;
  /** of all sessions in memory */
  #characters = 0;

  constructor(
    sources: SessionSources,
    private readonly firstAgent: AgentRef,
    /** number of unused sessions to keep, and of their characters */
    private readonly keep: { readonly sessions: number; readonly characters: number },
  ) {
    this.#sources = {
      ...sources,
      onCommitted: (ref, events, before) => {
        sources.onCommitted?.(ref, events, before);
        const entry = this.#entries.get(sessionKey(ref));
        if (entry?.session?.status.kind !== 'running') this.#measure(entry);
      },
    };
  }

  /**
   * Keeps the session in memory while `work` runs. If it must be loaded, loads it up to event number `upTo`.
   */
  async use<Result>(
    ref: SessionRef,
    work: (session: Session) => Promise<Result>,
    upTo = Number.POSITIVE_INFINITY,
  ): Promise<Result> {
    const entry = this.#entry(ref, upTo);
    entry.pins++;
    entry.used = true;
    try {
      // A session that did not exist may have been imported since.
      if (entry.session?.state.seq === 0) await entry.session.compare();
      return await work(await entry.loading);
    } finally {
      entry.pins--;
      this.#measure(entry);
    }
  }

  /** The session if it is in memory. */
  loaded(ref: SessionRef): Session | null {
    return this.#entries.get(sessionKey(ref))?.session ?? null;
  }

  /** The session if it is loaded or loading, else null. */
  known(ref: SessionRef): Session | Promise<Session> | null {
    const entry = this.#entries.get(sessionKey(ref));
    return entry ? (entry.session ?? entry.loading) : null;
  }

  /** All sessions in memory. */
  *all(): Generator<Session> {
    for (const { session } of this.#entries.values()) if (session) yield session;
  }

  /** Whether the session is in use, or was used since the last call. */
  usedLately(ref: SessionRef): boolean {
    const entry = this.#entries.get(sessionKey(ref));
    if (!entry) return false;
    const { used } = entry;
    entry.used = false;
    return used || inUse(entry);
  }

  /** Erases the session unless it is in use or no longer matches. False if it was not erased. */
  eraseUnused(ref: SessionRef, by: string, fits: (session: Session) => boolean): Promise<boolean> {
    return this.use(ref, async (session) => {
      await session.fresh();
      if (await session.link?.isWatchedElsewhere()) return false;
      const alone = this.#entry(ref).pins === 1 && session.idle;
      // Checked and queued synchronously, so that later callers find no session.
      return alone && fits(session) && session.erase(by);
    });
  }

  get size(): number {
    return this.#entries.size;
  }

  #entry(ref: SessionRef, upTo = Number.POSITIVE_INFINITY): Entry {
    const key = sessionKey(ref);
    const existing = this.#entries.get(key);
    if (existing) return existing;
    if (this.#entries.size >= this.keep.sessions) this.#evict(this.keep.sessions - 1);
    const loading = Session.load(ref, { agent: this.firstAgent, upTo }, this.#sources);
    const entry: Entry = { loading, session: null, pins: 0, used: false, characters: 0 };
    this.#entries.set(key, entry);
    loading.then(
      (session) => {
        entry.session = session;
      },
      () => this.#entries.delete(key),
    );
    return entry;
  }

  #measure(entry: Entry | undefined): void {
    if (!entry?.session) return;
    const { characters } = entry.session;
    this.#characters += characters - entry.characters;
    entry.characters = characters;
    if (this.#characters > this.keep.characters) this.#evict(this.keep.sessions);
  }

  /**
   * Evicts unused sessions, the least recently checked first; used ones move to the end, so that a few checks
   * suffice. Synchronous: evicting a session in use would create a second object for it.
   */
  #evict(most: number): void {
    let checks = MAX_CHECKS;
    for (const [key, entry] of this.#entries) {
      const fits = this.#entries.size <= most && this.#characters <= this.keep.characters;
      if (fits || checks-- === 0) return;
      this.#entries.delete(key);
      if (inUse(entry)) this.#entries.set(key, entry);
      else {
        this.#characters -= entry.characters;
        entry.session?.close();
      }
    }
  }
}

/** Whether it is loading, pinned, driven or watched. */
const inUse = ({ session, pins }: Entry): boolean => pins > 0 || !session?.idle;
