/**
 * Delivers the events of a session to its subscribers, on this node and on others. `buses/contract.ts` tests every
 * promise made here.
 */
import type { PrincipalId, SessionEvent } from '@parlance/protocol';
import type { SessionRef } from './event-store.ts';

/**
 * Called synchronously with each event and a view of its session at that moment. A sink must not throw and must not
 * wait.
 */
export type EventSink<View> = (event: SessionEvent, session: View) => void;

/** The events of one session. */
export interface Channel<View> {
  /**
   * Every subscriber on this node has the event when this returns, in the order of the calls. It is called for each
   * token: no promise, no copy, no encoding unless another node has a subscriber. A sink that throws is logged; the
   * others still get the event.
   */
  publish(event: SessionEvent, session: View): void;
  /** Starts with the next event; returns a function that ends the subscription. */
  subscribe(sink: EventSink<View>): () => void;
  /** whether anyone on this node subscribes to this session by itself */
  readonly watched: boolean;
}

export interface Bus<View> {
  /** Created once per session in memory, so that publishing needs no lookup. */
  channel(ref: SessionRef): Channel<View>;
  /** Every session of the owner. */
  subscribeOwner(owner: PrincipalId, sink: EventSink<View>): () => void;
  /** Every session of everyone. */
  subscribeAll(sink: EventSink<View>): () => void;
}
