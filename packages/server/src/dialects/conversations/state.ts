/** The state of the projection between two events. */
import type { AgentRef, InputId } from '@parlance/protocol';
import { type Calls, NO_CALLS } from '../kit/calls.ts';
import type { Measures } from './contract.ts';

/** Tokens used since a point in time. */
type Meter = { readonly since: number; readonly tokens: number };

export type State = {
  readonly conversationId: string;
  readonly agent: AgentRef;
  readonly calls: Calls;
  /** inputs that are direct calls of a tool */
  readonly directInputs: readonly InputId[];
  /** the turn is a direct call, which no agent answers */
  readonly direct: boolean;
  /** the id of the answer: that of the turn, until the answer restarts */
  readonly message: string;
  /** completed text blocks of the turn */
  readonly texts: readonly string[];
  /** how many of them belong to completed steps */
  readonly settled: number;
  /** clients have received text of the current step */
  readonly hasText: boolean;
  /** the open text block whose beginning clients have received */
  readonly openBlock: string | null;
  readonly turnMeter: Meter;
  readonly agentMeter: Meter;
  /** the reason for the last denial */
  readonly denial: string;
};

export const BETWEEN_BLOCKS = '\n\n';
export const NOTHING: Meter = { since: 0, tokens: 0 };
export const IDLE = {
  calls: NO_CALLS,
  direct: false,
  message: '',
  texts: [],
  settled: 0,
  hasText: false,
  turnMeter: NOTHING,
  agentMeter: NOTHING,
  denial: '',
};

export const addTokens = ({ since, tokens }: Meter, more: number): Meter => ({
  since,
  tokens: tokens + more,
});
export const measured = ({ since, tokens }: Meter, at: number): Measures => ({
  tokenCount: tokens,
  durationMs: at - since,
});
