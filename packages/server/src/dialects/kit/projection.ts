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

// Ids in frames, derived from the event id: the same event always gives the same ids.

/**
 * The nth id derived from a UUID, itself a UUID: `n` (below 2^48) is XORed into the last group, so that different
 * numbers give different ids and version and variant stay as they are.
 */
export function nthId(id: string, n: number): string {
  if (n === 0) return id;
  const high = Math.floor(n / 0x1_0000);
  const upper = high === 0 ? id.slice(-12, -4) : xored(id.slice(-12, -4), high);
  return id.slice(0, -12) + upper + xored(id.slice(-4), n % 0x1_0000);
}

const xored = (digits: string, value: number): string =>
  ((Number.parseInt(digits, 16) ^ value) >>> 0).toString(16).padStart(digits.length, '0');

/** `<prefix>_<ms>_<9 base36>`, the format of ids in the extension contract. */
export function stampedId(prefix: string, at: number, id: string): string {
  const digits = BigInt(`0x${id.replaceAll('-', '').slice(-16)}`).toString(36);
  return `${prefix}_${at}_${digits.padStart(9, '0').slice(-9)}`;
}
