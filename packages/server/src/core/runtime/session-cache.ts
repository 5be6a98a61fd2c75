/** The sessions in memory: one object per session, however many ask for it at once. */
import type { AgentRef } from '@parlance/protocol';
import { type SessionRef, sessionKey } from '../ports/event-store.ts';
import { LiveSession } from './live-session.ts';
import type { SessionSources } from './session-sources.ts';

type Entry = { readonly loading: Promise<LiveSession>; session: LiveSession | null; pins: number };

/** For each session that comes in: more than one, so that a crowd that has left is gone after a few. */
const MOST_LOOKS = 16;

export class SessionCache {
  readonly #entries = new Map<string, Entry>();

  constructor(
    private readonly sources: SessionSources,
    private readonly firstAgent: AgentRef,
    /** sessions that nobody uses stay up to this many */
    private readonly keep: number,
  ) {}

  /** The session stays in memory while `work` runs. */
  async use<Result>(ref: SessionRef, work: (session: LiveSession) => Promise<Result>): Promise<Result> {
    const entry = this.#entry(ref);
    entry.pins++;
    try {
      // One that did not exist when it was asked for may have been imported since.
      if (entry.session?.state.seq === 0) await entry.session.refresh();
      return await work(await entry.loading);
    } finally {
      entry.pins--;
    }
  }

  get size(): number {
    return this.#entries.size;
  }

  #entry(ref: SessionRef): Entry {
    const key = sessionKey(ref);
    const known = this.#entries.get(key);
    if (known) return known;
    if (this.#entries.size >= this.keep) this.#evict();
    const loading = LiveSession.load(ref, this.firstAgent, this.sources);
    const entry: Entry = { loading, session: null, pins: 0 };
    this.#entries.set(key, entry);
    loading.then(
      (session) => {
        entry.session = session;
      },
      () => this.#entries.delete(key),
    );
    return entry;
  }

  /**
   * Drops sessions that nobody uses, those that were loaded or looked at longest ago first; what is in use goes to the
   * end, so that a few looks are enough however many there are. Without a pause: one that is in use must never be
   * dropped, or there would be two of it.
   */
  #evict(): void {
    let looks = MOST_LOOKS;
    for (const [key, entry] of this.#entries) {
      if (this.#entries.size < this.keep || looks-- === 0) return;
      this.#entries.delete(key);
      if (!entry.session?.idle || entry.pins > 0) this.#entries.set(key, entry);
    }
  }
}
