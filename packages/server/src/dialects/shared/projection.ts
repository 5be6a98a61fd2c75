/** Out: how a dialect turns the events of a session into its frames. */
import type { ConnectionId, SessionEvent } from '@parlance/protocol';
import type { SessionSnapshot } from '../../core/api/index.ts';
import type { Pieces } from '../../http/connection.ts';

/** One frame for the subscribers of a session. */
export type Frame<Body extends object = object> = {
  readonly body: Body;
  /** The subscriber that is not sent this frame, because it has it already. */
  readonly except?: ConnectionId;
};

/** What `step` of a projection returns: the next state and the frames of the event. */
export type Stepped<State, Body extends object = object> = readonly [State, readonly Frame<Body>[]];

/**
 * Turns events into frames. Pure: the same events give the same frames, so time and ids are taken from the event. One
 * projection of a session serves all of its subscribers in the dialect, and each frame is encoded once.
 */
export interface Projection<State, Body extends object = object> {
  /** The state before the events since the session was last idle; a block that is being streamed follows as a delta. */
  start(now: Omit<SessionSnapshot, 'open'>): State;
  /** Called for each token: returns the same state if the event does not change it, and copies no text. */
  step(state: State, event: SessionEvent): Stepped<State, Body>;
  /** The frames that carry a text in pieces: they are merged for a slow reader. */
  readonly pieces?: Pieces<Body>;
  /** The encoded frame; JSON if absent. */
  encode?(body: Body): string;
  /** The frames for a subscriber that joins now, such as a pending approval or the block that is being streamed. */
  attach(state: State, now: SessionSnapshot): readonly Body[];
}

export const NONE: readonly Frame<never>[] = [];
