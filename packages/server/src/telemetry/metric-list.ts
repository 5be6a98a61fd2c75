/** Every metric: source of `/metrics` and of the table in the guide. */
import type { CounterName, GaugeName, HistogramName } from '../core/ports/telemetry.ts';

type Described = {
  readonly help: string;
  /** name of its label, if it has one */
  readonly label?: string;
  /** label values that are known in advance: served from the start, as zero */
  readonly values?: readonly string[];
};

export const COUNTERS: Readonly<Record<CounterName, Described>> = {
  turns: {
    help: 'finished turns: ended, failed or cancelled',
    label: 'outcome',
    values: ['ended', 'failed', 'cancelled'],
  },
  tokens: {
    help: 'tokens sent to models (input) and received (output)',
    label: 'direction',
    values: ['input', 'output'],
  },
  tool_calls: {
    help: 'finished tool calls: ok, failed, denied, aborted or unknown',
    label: 'outcome',
    values: ['ok', 'failed', 'denied', 'aborted', 'unknown'],
  },
  approvals_answered: {
    help: 'answered approvals: once, always or deny',
    label: 'answer',
    values: ['once', 'always', 'deny'],
  },
  frames_coalesced: { help: 'frames joined for slow readers', label: 'dialect' },
  resyncs: { help: 'slow readers that were resynchronised from the log', label: 'dialect' },
  slow_readers_closed: { help: 'slow readers that were disconnected', label: 'dialect' },
  refusals: { help: 'requests, frames and sockets refused by a limit', label: 'limit' },
  logins: {
    help: 'logins: accepted, refused or limited',
    label: 'outcome',
    values: ['accepted', 'refused', 'limited'],
  },
  model_fallbacks: {
    help: 'steps that another model of a chain took over, by what failed before',
    label: 'code',
  },
  takeovers: { help: 'sessions resumed that another node or an earlier process drove' },
  fenced_appends: { help: 'several nodes: drives ended because another node drives the session' },
  bus_joins: { help: 'several nodes: snapshots requested from the node that drives a session' },
  bus_dropped: {
    help: 'several nodes: rejected messages between nodes, by reason',
    label: 'reason',
  },
};

export const HISTOGRAMS: Readonly<Record<HistogramName, Described & { readonly buckets: number[] }>> = {
  append_seconds: {
    help: 'time until an append is durable',
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
  },
  append_group_size: {
    help: 'several nodes: appends that were written in one statement',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_000],
  },
  turn_seconds: {
    help: 'duration of a turn, including the wait for approvals',
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 3_600],
    label: 'outcome',
  },
  reader_lag_seconds: {
    help: 'time until a slow reader had caught up',
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    label: 'dialect',
  },
};

export const GAUGES: Readonly<Record<GaugeName, Described>> = {
  sockets: { help: 'open sockets', label: 'dialect' },
  sockets_behind: { help: 'sockets whose reader is behind', label: 'dialect' },
  queue_depth: {
    help: 'queue lengths: turns waiting for a driver, appends for the disk, sessions in backoff',
    label: 'queue',
  },
  unparsed_bytes: {
    help: 'bytes of received bodies and frames that are not handled yet',
    label: 'sender',
  },
  sessions_waiting: { help: 'sessions with a pending approval or question' },
  turns_running: { help: 'sessions with a running turn' },
  sessions_in_memory: { help: 'sessions in memory' },
  lease_age_seconds: {
    help: 'several nodes: since the last heartbeat of this node that succeeded was sent',
  },
  bus_up: { help: 'several nodes: 1 if the bus is connected, 0 if not' },
};

/** Process metrics, under their conventional names. */
export const PROCESS = {
  parlance_event_loop_delay_seconds: {
    type: 'gauge',
    help: 'event loop delay since the last scrape',
    label: 'quantile',
  },
  process_cpu_seconds_total: { type: 'counter', help: 'CPU time' },
  process_resident_memory_bytes: { type: 'gauge', help: 'resident memory' },
  process_heap_bytes: { type: 'gauge', help: 'memory of JavaScript objects' },
  process_start_time_seconds: { type: 'gauge', help: 'start time of the process, in seconds since 1970' },
} as const satisfies Readonly<Record<string, Described & { readonly type: 'gauge' | 'counter' }>>;

export const counterName = (name: CounterName): string => `parlance_${name}_total`;
export const metricName = (name: HistogramName | GaugeName): string => `parlance_${name}`;

type Row = { readonly name: string; readonly type: string; readonly label: string; readonly help: string };

export function metricRows(): Row[] {
  const row = (name: string, type: string, { help, label = '' }: Described): Row => ({
    name,
    type,
    label,
    help,
  });
  return [
    ...entries(COUNTERS).map(([name, metric]) => row(counterName(name), 'counter', metric)),
    ...entries(HISTOGRAMS).map(([name, metric]) => row(metricName(name), 'histogram', metric)),
    ...entries(GAUGES).map(([name, metric]) => row(metricName(name), 'gauge', metric)),
    ...Object.entries(PROCESS).map(([name, metric]) => row(name, metric.type, metric)),
  ];
}

export const entries = <Key extends string, Value>(
  record: Readonly<Record<Key, Value>>,
): (readonly [Key, Value])[] => Object.entries(record) as [Key, Value][];
