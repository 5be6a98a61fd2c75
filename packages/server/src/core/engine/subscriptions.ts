/** Event subscriptions. */
import { type Principal, type PrincipalId, requirePermission } from '@parlance/protocol';
import type { SessionRef } from '../ports/event-store.ts';
import type { EngineInternals } from './engine-internals.ts';
import type { Session, TurnLabeller } from './session.ts';
import type { Commit, ObservedSession, Sink } from './snapshot.ts';

export type Watch = ObservedSession & { stop(): void };

export type WatchOptions = {
  /** default: start with the next event */
  readonly after?: number | 'now';
  /** called after the past events, before any new event */
  readonly begin?: (watch: Watch) => void;
  /**
   * called after the events of one append. Not for past events: their appends are not known. `watch.status()` is the
   * status after them.
   */
  readonly committed?: (commit: Commit) => void;
};

const nothing = () => undefined;

export function subscriptions({ parts: { bus }, sessions, network }: EngineInternals) {
  /** Subscribes to all sessions of the owner, or of all owners if null. */
  const subscribeOwners = (owner: PrincipalId | null, sink: Sink): (() => void) => {
    const unsubscribe = owner === null ? bus.subscribeAll(sink) : bus.subscribeOwner(owner, sink);
    const endInterest = network?.followOwner(owner) ?? nothing;
    return () => {
      unsubscribe();
      endInterest();
    };
  };

  return {
    watch: (
      ref: SessionRef,
      sink: Sink,
      { after = 'now', begin, committed }: WatchOptions = {},
    ): Promise<Watch> =>
      sessions.use(ref, async (session) => {
        const endInterest = session.link?.watch() ?? nothing;
        try {
          await session.link?.join();
          // A caller that has just read the store may be ahead of the session in memory.
          if (after !== 'now' && after > session.state.seq) await session.refresh();
          // Replay until nothing is new, then subscribe synchronously: events may be stored during the
          // replay.
          for (let seen = after; seen !== 'now' && seen < session.state.seq; )
            seen = await replay(session, sink, seen);
        } catch (thrown) {
          endInterest();
          throw thrown;
        }
        const unsubscribe = session.channel.subscribe(
          sink,
          committed && ((events, { status }) => committed({ events, status: status() })),
        );
        const stop = () => {
          unsubscribe();
          endInterest();
        };
        const watch: Watch = { ...session.observed, stop };
        begin?.(watch);
        return watch;
      }),

    labelTurns(ref: SessionRef, labeller: TurnLabeller): () => void {
      const labellers = sessions.loaded(ref)?.labellers;
      labellers?.add(labeller);
      return () => labellers?.delete(labeller);
    },

    watchOwner: subscribeOwners,

    watchAll(principal: Principal, sink: Sink): () => void {
      requirePermission(principal, 'chat:read');
      return subscribeOwners(principal.role === 'admin' ? null : principal.id, sink);
    },

    whenIdle: (ref: SessionRef): Promise<void> =>
      sessions.use(ref, async (session) => {
        const endInterest = session.link?.watch() ?? nothing;
        try {
          await session.fresh();
          await idle(session);
        } finally {
          endInterest();
        }
      }),
  };
}

/** Calls `sink` with the published events after number `after`; returns the number of the last one. */
async function replay(session: Session, sink: Sink, after: number): Promise<number> {
  let seen = after;
  for await (const event of session.events(seen)) {
    if (event.seq > session.state.seq) break; // stored, but not yet published
    sink(event, session.observed);
    seen = event.seq;
  }
  return seen;
}

async function idle(session: Session): Promise<void> {
  while (session.status.kind === 'running') {
    const { promise, resolve } = Promise.withResolvers<void>();
    const check = () => {
      if (session.status.kind !== 'running') resolve();
    };
    // An erased session is idle without an append.
    await promise.finally(session.channel.subscribe(check, check));
  }
}
