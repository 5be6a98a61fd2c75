/** The bus of a single node: publishing calls each subscriber. */
import type { DurableEvent, PrincipalId, SessionEvent } from '@parlance/protocol';

import type { SessionRef } from '../ports/event-store.ts';
import type { Log } from '../ports/telemetry.ts';

export function openMemoryBus<View>(log: Log): Bus<View> {
  type Sink = EventSink<View>;
  const everyone = new Set<Sink>();
  const owners = new Map<PrincipalId, Set<Sink>>();
  const ofOwner = (owner: PrincipalId): Set<Sink> => {
    const existing = owners.get(owner);
    if (existing) return existing;
    const sinks = new Set<Sink>();
    owners.set(owner, sinks);
    return sinks;
  };
  const subscribe = <Any>(sinks: Set<Any>, sink: Any) => {
    sinks.add(sink);
    return () => void sinks.delete(sink);
  };
  return {
    channel(ref: SessionRef) {
      const own = new Set<Sink>();
      const commits = new Set<CommitSink<View>>();
      const sinkSets = [own, ofOwner(ref.owner), everyone];
      return {
        publish(event, session) {
          for (const sinks of sinkSets) {
            for (const sink of sinks) {
              try {
                sink(event, session);
              } catch (thrown) {
                log.error({ err: thrown, event: event.type, session: ref.id }, 'subscriber failed');
              }
            }
          }
        },
        commit(events: readonly DurableEvent[], session: View) {
          for (const committed of commits) {
            try {
              committed(events, session);
            } catch (thrown) {
              log.error({ err: thrown, session: ref.id }, 'subscriber failed');
            }
          }
        },
        subscribe(sink, committed) {
          const ends = [subscribe(own, sink), ...(committed ? [subscribe(commits, committed)] : [])];
          return () => {
            for (const end of ends) end();
          };
        },
        get watched() {
          return own.size > 0;
        },
      };
    },
    subscribeOwner: (owner, sink) => subscribe(ofOwner(owner), sink),
    subscribeAll: (sink) => subscribe(everyone, sink),
  };
}

// Delivers the events of a session to its subscribers, on this node and on others. Contract tests:
// `testing/cluster/contract.ts`.

/** Called synchronously with each event and the session's view at that moment. Must not throw or block. */
export type EventSink<View> = (event: SessionEvent, session: View) => void;

/**
 * Called synchronously when all events of an append were delivered. Between two of them, a session can look as if
 * it waited for an answer. Must not throw or block.
 */
export type CommitSink<View> = (events: readonly DurableEvent[], session: View) => void;

/** The events of one session. */
export interface Channel<View> {
  /**
   * Delivers the event to all subscribers on this node before it returns, in call order. Called for each
   * token: no promise, no copy, no encoding unless another node has a subscriber. A sink that throws is
   * logged; the others still receive the event.
   */
  publish(event: SessionEvent, session: View): void;
  /** Tells the subscribers on this node that the published events were all of their append. */
  commit(events: readonly DurableEvent[], session: View): void;
  /** Starts with the next event; returns a function that ends the subscription. */
  subscribe(sink: EventSink<View>, committed?: CommitSink<View>): () => void;
  /** whether a subscriber on this node watches this session individually */
  readonly watched: boolean;
}

export interface Bus<View> {
  /** Created once per session in memory, so that publishing needs no lookup. */
  channel(ref: SessionRef): Channel<View>;
  /** Subscribes to all sessions of the owner. */
  subscribeOwner(owner: PrincipalId, sink: EventSink<View>): () => void;
  /** Subscribes to all sessions of all owners. */
  subscribeAll(sink: EventSink<View>): () => void;
}
