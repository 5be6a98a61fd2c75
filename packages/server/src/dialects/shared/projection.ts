/** Out: how a dialect turns the events of a session into its frames. */
import type { ConnectionId, SessionEvent } from '@parlance/protocol';
import type { SessionSnapshot } from '../../core/api/index.ts';
import type { Pieces } from '../../http/connection.ts';

/** One message to the sockets that watch a session. */
export type Frame<Body extends object = object> = {
  readonly body: Body;
  /** the socket that is not sent this one: it knows already */
  readonly except?: ConnectionId;
};

/** What a projection's `step` gives back. */
export type Stepped<State, Body extends object = object> = readonly [State, readonly Frame<Body>[]];

/**
 * Out: events to frames. Pure: the same events give the same frames, so time and ids are taken from the event. One
 * projection of a session serves all sockets that watch it in this dialect, and each frame is encoded once.
 */
export interface Projection<State, Body extends object = object> {
  start(now: SessionSnapshot): State;
  /** On the path of a token: hands the same state back where an event does not change it, and copies no text. */
  step(state: State, event: SessionEvent): Stepped<State, Body>;
  /** which frames carry a text piece by piece: a reader that is behind is sent them as one */
  readonly pieces?: Pieces<Body>;
  /** What a socket that joins at this moment is shown: an approval that waits, a block that is being streamed. */
  attach(state: State, now: SessionSnapshot): readonly Body[];
}

export const NONE: readonly Frame<never>[] = [];
