/**
 * Delivers the events of a session to its subscribers, on this node and on others. Contract tests:
 * `testing/buses/contract.ts`.
 */
import type { DurableEvent, PrincipalId, SessionEvent } from '@parlance/protocol';
import type { SessionRef } from './event-store.ts';

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
