/** Traces of turns, model calls and tool calls, without their content. */
import type { AgentRef, CallId, DurableEvent, FaultCode, TurnId, Usage } from '@parlance/protocol';
import type { SessionRef } from './event-store.ts';
import type { Prompt } from './provider.ts';

export type ModelCallInfo = {
  readonly provider: string;
  readonly model: string;
  readonly task: Prompt['task'];
  /** absent for a prompt outside any session */
  readonly session?: SessionRef;
  readonly turn?: TurnId;
};

export type ModelOutcome =
  | { readonly kind: 'ended'; readonly usage: Usage; readonly stop: string }
  | { readonly kind: 'failed'; readonly code: FaultCode }
  /** aborted: the turn was cancelled, or the server is stopping */
  | { readonly kind: 'broken-off' };

export type ModelTrace = {
  /** The request was retried. */
  retried(code: FaultCode): void;
  /** Called once. */
  end(outcome: ModelOutcome): void;
};

/** The part of the session state that traces use. */
export type TracedState = {
  readonly turn: {
    readonly agent: AgentRef;
    readonly calls: readonly { readonly call: CallId; readonly tool: string }[];
  } | null;
};

export interface Tracer {
  /** Called for each stored event with the state before it. */
  onCommitted(ref: SessionRef, event: DurableEvent, before: TracedState): void;
  startModelCall(call: ModelCallInfo): ModelTrace;
}

const nothing = () => undefined;
const NO_TRACE: ModelTrace = { retried: nothing, end: nothing };

/** For servers and tests without traces. */
export const NO_TRACER: Tracer = { onCommitted: nothing, startModelCall: () => NO_TRACE };
