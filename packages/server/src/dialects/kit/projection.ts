/** Out: converts the events of a session to the frames of a dialect. */
import type { ConnectionId, SessionEvent } from '@parlance/protocol';
import type { SessionSnapshot } from '../../core/index.ts';
import type { Pieces } from '../../http/connection.ts';

/** One frame for the subscribers of a session. */
export type Frame<Body extends object = object> = {
  readonly body: Body;
  /** The subscriber to skip, because it already has this frame. */
  readonly except?: ConnectionId;
  /** `body` is a question: sent instead of it to subscribers that cannot answer it. */
  readonly otherwise?: Body;
};

/** The result of `step`: the next state and the frames of the event. */
export type StepResult<State, Body extends object = object> = readonly [State, readonly Frame<Body>[]];

/**
 * Converts events to frames. Pure: the same events give the same frames, so time and ids come from the event.
 * All subscribers of a session in a dialect share one projection, and each frame is encoded once.
 */
export interface Projection<State, Body extends object = object> {
  /** The state before the events since the session was last idle. A block being streamed follows as a delta. */
  start(now: Omit<SessionSnapshot, 'open'>): State;
  /** Called for each token: returns the same state if the event does not change it, and copies no text. */
  step(state: State, event: SessionEvent): StepResult<State, Body>;
  /** How to merge frames that carry a text in pieces, for a slow reader. */
  readonly pieces?: Pieces<Body>;
  /** The encoded frame; default: JSON. */
  encode?(body: Body): string;
  /** The frames for a subscriber that joins now, such as a pending approval or the block that is being streamed. */
  attach(state: State, now: SessionSnapshot): readonly Body[];
}

export const NONE: readonly Frame<never>[] = [];
