/** The state of the projection between two events. */
import type { TurnId } from '@parlance/protocol';
import type { Chunk, FinishReason } from './chunks.ts';

export type Call = {
  /** the page that declared the tool runs it */
  readonly isPages: boolean;
  /** the model has not finished its arguments */
  readonly isWriting: boolean;
  /** the approval that was requested for the call */
  readonly approval: string | null;
};

/**
 * The position of the client in the message: before its first step, in a step that the model is writing, in one
 * whose calls are known, or after a step.
 */
export type StepPhase = 'none' | 'writing' | 'calling' | 'ended';

export type State = {
  readonly turn: TurnId | null;
  readonly step: StepPhase;
  /** the block being streamed */
  readonly block: string | null;
  /** calls without an outcome */
  readonly calls: Readonly<Record<string, Call>>;
  readonly finish: FinishReason;
  /** names of the tools that the page of this turn runs */
  readonly pageTools: readonly string[];
  /** the same for queued inputs */
  readonly declared: Readonly<Record<string, readonly string[]>>;
};

/** The new state, and the chunks that the change adds to the message. */
export type Changed = readonly [State, readonly Chunk[]];

export const IDLE: Omit<State, 'declared'> = {
  turn: null,
  step: 'none',
  block: null,
  calls: {},
  finish: 'stop',
  pageTools: [],
};

export const withCall = (state: State, id: string, change: Partial<Call>): State => {
  const call = state.calls[id];
  return call ? { ...state, calls: { ...state.calls, [id]: { ...call, ...change } } } : state;
};

export const withoutCall = (state: State, id: string): State => {
  const { [id]: _ended, ...calls } = state.calls;
  return { ...state, calls };
};
