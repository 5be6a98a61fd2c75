/** What the projection remembers of a session between two events. */
import type { TurnId } from '@parlance/protocol';
import type { Chunk, FinishReason } from './chunks.ts';

/** `writing`: the model has not finished its arguments. */
export type Phase = 'writing' | 'requested' | 'waiting' | 'allowed' | 'running' | 'deferred';

export type Call = {
  readonly tool: string;
  /** the page that declared the tool runs it */
  readonly isPages: boolean;
  readonly phase: Phase;
  /** the approval that was requested for it */
  readonly approval: string | null;
};

/**
 * The part of the message that the client is in: before its first step, in one that the model is writing, in one whose
 * calls are known, or after one.
 */
export type StepPhase = 'none' | 'writing' | 'calling' | 'ended';

export type State = {
  readonly turn: TurnId | null;
  readonly step: StepPhase;
  /** the block whose text is streamed */
  readonly block: string | null;
  /** the calls without an outcome */
  readonly calls: Readonly<Record<string, Call>>;
  readonly finish: FinishReason;
  /** the names of the tools that the page of this turn runs */
  readonly pageTools: readonly string[];
  /** the same of the inputs that wait for their turns */
  readonly declared: Readonly<Record<string, readonly string[]>>;
};

/** What a change adds to the message. */
export type Changed = readonly [State, readonly Chunk[]];

export const REST: Omit<State, 'declared'> = {
  turn: null,
  step: 'none',
  block: null,
  calls: {},
  finish: 'stop',
  pageTools: [],
};

/** Whether the turn goes on only with an answer of a person or a page. As the core decides it. */
export function isWaiting({ calls }: State): boolean {
  const phases = Object.values(calls).map(({ phase }) => phase);
  return (
    phases.some((phase) => phase === 'waiting' || phase === 'deferred') &&
    !phases.some((phase) => phase === 'running' || phase === 'allowed')
  );
}

export const withCall = (state: State, id: string, change: Partial<Call>): State => {
  const call = state.calls[id];
  return call ? { ...state, calls: { ...state.calls, [id]: { ...call, ...change } } } : state;
};

export const withoutCall = (state: State, id: string): State => {
  const { [id]: _ended, ...calls } = state.calls;
  return { ...state, calls };
};
