/** The state of the projection: what is known of a conversation between two events. */
import type { AgentRef, InputId } from '@parlance/protocol';
import { type Calls, NO_CALLS } from '../shared/calls.ts';
import type { Measures } from './bodies.ts';

/** What was spent since a moment. */
type Meter = { readonly since: number; readonly tokens: number };

export type State = {
  readonly conversationId: string;
  readonly agent: AgentRef;
  readonly calls: Calls;
  /** inputs that ask for a tool by name */
  readonly directInputs: readonly InputId[];
  /** the turn is a direct call: no agent answers in it */
  readonly direct: boolean;
  /** the id of the turn's answer: the turn's own, until an answer restarts */
  readonly message: string;
  /** the text blocks of the turn that are complete */
  readonly texts: readonly string[];
  /** how many of them belong to steps that are complete */
  readonly settled: number;
  /** clients have seen text of the step that is not complete */
  readonly said: boolean;
  /** the open text block of which clients have seen the beginning */
  readonly begun: string | null;
  readonly turnMeter: Meter;
  readonly agentMeter: Meter;
  /** why the last denied call was denied */
  readonly denial: string;
};

export const BETWEEN_BLOCKS = '\n\n';
export const NOTHING: Meter = { since: 0, tokens: 0 };
export const REST = {
  calls: NO_CALLS,
  direct: false,
  message: '',
  texts: [],
  settled: 0,
  said: false,
  turnMeter: NOTHING,
  agentMeter: NOTHING,
  denial: '',
};

export const spend = ({ since, tokens }: Meter, more: number): Meter => ({ since, tokens: tokens + more });
export const measured = ({ since, tokens }: Meter, at: number): Measures => ({
  tokenCount: tokens,
  durationMs: at - since,
});
