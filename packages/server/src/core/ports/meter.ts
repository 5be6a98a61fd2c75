/** Metrics of the server. Cheap enough to be called anywhere but on the token path. */

export type CounterName =
  /** label: ended, failed, cancelled */
  | 'turns'
  /** label: input, output */
  | 'tokens'
  /** label: the outcome of the call */
  | 'tool_calls'
  /** label: once, always, deny */
  | 'approvals_answered'
  /** frames joined for a slow reader; label: dialect */
  | 'frames_coalesced'
  /** readers that must read again from the log; label: dialect */
  | 'resyncs'
  /** readers disconnected because they did not read; label: dialect */
  | 'slow_readers_closed'
  /** label: the limit that was reached */
  | 'refusals'
  /** label: accepted, refused, limited */
  | 'logins'
  /** sessions resumed that another node or an earlier process drove */
  | 'takeovers'
  /** appends refused because another node drives the session */
  | 'fenced_appends'
  /** snapshots requested from the node that drives a session */
  | 'bus_joins'
  /** messages of other nodes that were not accepted; label: the reason */
  | 'bus_dropped';

export type HistogramName =
  /** from append to durable, in seconds */
  | 'append_seconds'
  /** several nodes: appends that were written together */
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
  | 'approvals_waiting'
  | 'turns_running'
  | 'sessions_in_memory'
  /** several nodes: since the last heartbeat of this node that succeeded was sent */
  | 'lease_age_seconds'
  /** 1 while the bus between nodes carries messages */
  | 'bus_up';

export interface Meter {
  add(name: CounterName, label?: string, amount?: number): void;
  observe(name: HistogramName, value: number, label?: string): void;
  /**
   * `read` is called when metrics are collected. A record has a value for each label. A gauge that is registered twice has the
   * figures of both.
   */
  gauge(name: GaugeName, read: () => Figures | Promise<Figures>): void;
}

export type Figures = number | Readonly<Record<string, number>>;

const nothing = () => undefined;

/** For tests and tools without metrics. */
export const NO_METER: Meter = { add: nothing, observe: nothing, gauge: nothing };
