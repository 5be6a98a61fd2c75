/** Metrics of the server. Cheap enough to call anywhere except on the token path. */

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
  | 'approvals_waiting'
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
