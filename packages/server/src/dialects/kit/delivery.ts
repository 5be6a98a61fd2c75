/** Sends the frames of one projection to subscribers. */
import type { ConnectionId, EphemeralEvent, SessionEvent } from '@parlance/protocol';
import type { Log, ObservedSession, SessionSnapshot } from '../../core/index.ts';
import type { Pieces, Subscriber } from '../../http/connection.ts';
import type { Frame, Projection } from './projection.ts';

export type Subscribers = Map<ConnectionId, Subscriber>;

/** The text of the open block before the event, as one delta: it was streamed after all stored events. */
function streamedBefore(
  { ref, open }: SessionSnapshot,
  before: SessionEvent | undefined,
): EphemeralEvent<'text.delta' | 'reasoning.delta'> | null {
  if (!open) return null;
  const { kind, turn, block, text } = open;
  const isPartOf =
    (before?.type === 'text.delta' || before?.type === 'reasoning.delta') && before.block === block;
  const earlier = isPartOf ? text.slice(0, text.length - before.text.length) : text;
  if (earlier === '') return null;
  const ids = { id: block, session: ref.id, at: 0 } as const;
  return { type: kind === 'text' ? 'text.delta' : 'reasoning.delta', turn, block, text: earlier, ...ids };
}

export class Delivery<State> {
  readonly #pieces: Pieces | undefined;

  constructor(
    private readonly projection: Projection<State>,
    private readonly log: Log,
  ) {
    this.#pieces = projection.pieces;
  }

  /** The current state of the session or, with `before`, the state before that event. */
  stateOf(session: ObservedSession, before?: SessionEvent): State {
    const now = session.snapshot();
    let state = this.projection.start(now);
    for (const event of session.eventsSinceIdle()) {
      if (event !== before) [state] = this.projection.step(state, event);
    }
    const streamed = streamedBefore(now, before);
    if (streamed) [state] = this.projection.step(state, streamed);
    return state;
  }

  /** The frames for a subscriber that joins now. */
  attach(state: State, session: ObservedSession): readonly object[] {
    return this.projection.attach(state, session.snapshot());
  }

  /** Sends a frame to one subscriber. */
  send(body: object, subscriber: Subscriber): void {
    subscriber.send(this.#encode(body), body);
  }

  /** Called for each token: one step and one encoding, independent of the number of subscribers. */
  deliver(state: State, event: SessionEvent, subscribers: Subscribers): State {
    let next: State;
    let frames: readonly Frame[];
    try {
      [next, frames] = this.projection.step(state, event);
    } catch (thrown) {
      this.log.error({ err: thrown, event: event.type, session: event.session }, 'projection failed');
      return state;
    }
    for (const frame of frames) {
      const text = this.#encode(frame.body);
      const { otherwise } = frame;
      // A subscriber that closes while it is sent the frame may be replaced. Its successor already has the
      // frame and comes last in the map, so the loop ends after the original subscribers.
      let left = subscribers.size;
      for (const subscriber of subscribers.values()) {
        if (left-- === 0) break;
        if (otherwise && subscriber.answers?.(event.session) === false)
          subscriber.send(this.#encode(otherwise), otherwise, this.#pieces);
        else if (subscriber.id !== frame.except) subscriber.send(text, frame.body, this.#pieces);
      }
    }
    return next;
  }

  #encode(body: object): string {
    return this.projection.encode?.(body) ?? JSON.stringify(body);
  }
}
