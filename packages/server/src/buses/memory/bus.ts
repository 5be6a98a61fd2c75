/** The bus of a single node: publishing calls each subscriber. */
import type { DurableEvent, PrincipalId } from '@parlance/protocol';
import type { Bus, CommitSink, EventSink } from '../../core/ports/bus.ts';
import type { SessionRef } from '../../core/ports/event-store.ts';
import type { Log } from '../../core/ports/logger.ts';

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
