import type { AgentRef, CallId, DurableEvent, FaultCode, TurnId, Usage } from '@parlance/protocol';
import type { SessionRef } from './event-store.ts';
import type { Prompt } from './provider.ts';
/** Structured logging. */
export interface Log {
  debug(data: object, message: string): void;
  info(data: object, message: string): void;
  warn(data: object, message: string): void;
  error(data: object, message: string): void;
}

// Metrics of the server. Cheap enough to call anywhere except on the token path.

export type CounterName =
  /** label: ended, failed, cancelled */
  | 'turns'
  /** label: input, output */
  | 'tokens'
  /** label: outcome of the call */
  | 'tool_calls'
  /** label: once, always, deny */
  | 'approvals_answered'
  /** frames joined for a slow reader; label: dialect */
  | 'frames_coalesced'
  /** readers that must resume from the log; label: dialect */
  | 'resyncs'
  /** readers disconnected because they were too slow; label: dialect */
  | 'slow_readers_closed'
  /** label: the limit that was reached */
  | 'refusals'
  /** label: accepted, refused, limited */
  | 'logins'
  /** steps that another model of a chain took over; label: why the one before it failed */
  | 'model_fallbacks'
  /** resumed sessions that another node or an earlier process drove */
  | 'takeovers'
  /** appends refused because another node drives the session */
  | 'fenced_appends'
  /** snapshots requested from the node that drives a session */
  | 'bus_joins'
  /** rejected messages of other nodes; label: reason */
  | 'bus_dropped';

export type HistogramName =
  /** from append to durable write, in seconds */
  | 'append_seconds'
  /** several nodes: appends written together */
  | 'append_group_size'
  | 'turn_seconds'
  /** how long a reader was behind, in seconds; label: dialect */
  | 'reader_lag_seconds';

export type GaugeName =
  /** by dialect */
  | 'sockets'
  /** sockets whose reader is behind, by dialect */
  | 'sockets_behind'
  /** by queue: turns, appends, resting */
  | 'queue_depth'
  /** by sender: anonymous, identified */
  | 'unparsed_bytes'
  | 'sessions_waiting'
  | 'turns_running'
  | 'sessions_in_memory'
  /** several nodes: time since the last successful heartbeat of this node was sent */
  | 'lease_age_seconds'
  /** 1 while the bus between nodes carries messages */
  | 'bus_up';

export interface Meter {
  add(name: CounterName, label?: string, amount?: number): void;
  observe(name: HistogramName, value: number, label?: string): void;
  /**
   * `read` is called when metrics are collected; a record has one value per label. Registering a gauge twice
   * reports both.
   */
  gauge(name: GaugeName, read: () => Figures | Promise<Figures>): void;
}

export type Figures = number | Readonly<Record<string, number>>;

const nothing = () => undefined;

/** For tests and tools without metrics. */
export const NO_METER: Meter = { add: nothing, observe: nothing, gauge: nothing };

// Traces of turns, model calls and tool calls, without their content.

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

const NO_TRACE: ModelTrace = { retried: nothing, end: nothing };

/** For servers and tests without traces. */
export const NO_TRACER: Tracer = { onCommitted: nothing, startModelCall: () => NO_TRACE };

/** Who hears of model calls. */
export type Observers = { readonly meter: Meter; readonly tracer: Tracer };
