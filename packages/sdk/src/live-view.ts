/**
 * A session's view that keeps itself up to date, in the shape that pages like to read: `view()` is the same object
 * until listeners have been told of another (React: `useSyncExternalStore(live.subscribe, live.view)`).
 */
import type { SessionStreamEvent } from './answers.ts';
import type { Clock } from './clock.ts';
import type { ParlanceError } from './error.ts';
import type { EventsOptions } from './event-stream.ts';
import type { ConnectionState } from './reconnecting-stream.ts';
import { EMPTY, fold, type SessionView } from './view.ts';

export type LiveView = {
  view(): SessionView;
  connection(): ConnectionState;
  /** Called when `view` or `connection` has changed; what it returns takes that back. */
  subscribe(listener: () => void): () => void;
  /** Where it waits to connect again, it waits no longer. */
  retryNow(): void;
  close(): void;
  /** Resolves when it is closed: with why, or with null where `close` was called. */
  readonly closed: Promise<ParlanceError | null>;
};

/** Listeners are told of new words no more often than a screen is drawn. */
const FRAME_MS = 16;

/** Begins from `start`, where a view is at hand, and connects at once. */
export function liveView(
  events: (options: EventsOptions) => AsyncIterable<SessionStreamEvent>,
  clock: Clock,
  start: SessionView = EMPTY,
): LiveView {
  const listeners = new Set<() => void>();
  const stop = new AbortController();
  let working = start;
  let shown = start;
  let connection: ConnectionState = { status: 'connecting', failures: 0 };
  /** the past has been told: the view is of one moment */
  let whole = false;
  let due: (() => void) | null = null;

  function tell(): void {
    due?.();
    due = null;
    // While the past is told anew the page keeps what it has: it must not flicker.
    if (whole || connection.status === 'closed') shown = working;
    for (const listener of [...listeners]) listener();
  }

  async function run(): Promise<ParlanceError | null> {
    try {
      const onState = (state: ConnectionState) => {
        connection = state;
        if (state.status === 'connecting') whole = false;
        // The snapshot that makes it live has yet to be folded in.
        if (state.status !== 'live') tell();
      };
      for await (const event of events({ after: start.seq, signal: stop.signal, onState })) {
        const next = fold(working, event);
        if (event.type !== 'snapshot' && next === working) continue;
        working = next;
        whole ||= event.type === 'snapshot';
        if (event.type === 'snapshot') tell();
        else if (whole) due ??= clock.after(FRAME_MS, tell);
      }
    } catch (thrown) {
      if (connection.status !== 'closed' || connection.fault === null) throw thrown;
    }
    return connection.status === 'closed' ? connection.fault : null;
  }

  return {
    view: () => shown,
    connection: () => connection,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    retryNow() {
      if (connection.status === 'waiting') connection.retryNow();
    },
    close: () => stop.abort(),
    closed: run(),
  };
}
