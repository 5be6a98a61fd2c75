/**
 * A session view that updates itself. `view()` returns the same object until listeners are notified of a change
 * (React: `useSyncExternalStore(live.subscribe, live.view)`).
 */

import type { SessionStreamEvent } from './cursor.ts';
import type { ParlanceError } from './error.ts';
import type { EventsOptions } from './event-stream.ts';
import type { ConnectionState } from './reconnecting-stream.ts';
import type { Clock } from './retry.ts';
import { EMPTY, fold, type SessionView } from './view.ts';

export type LiveView = {
  view(): SessionView;
  connection(): ConnectionState;
  /** Called after `view` or `connection` changed. Returns the unsubscribe function. */
  subscribe(listener: () => void): () => void;
  /** Reconnects now if it is waiting to reconnect. */
  retryNow(): void;
  close(): void;
  /** Resolves when closed: with the error, or null after `close()`. */
  readonly closed: Promise<ParlanceError | null>;
};

/** Deltas notify listeners at most once per frame. */
const FRAME_MS = 16;

/** Starts from `start` if given, and connects immediately. */
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
  /** history has been replayed: the view is consistent */
  let whole = false;
  let due: (() => void) | null = null;

  function notify(): void {
    due?.();
    due = null;
    // Keep the shown view during a replay, so that the page does not flicker.
    if (whole || connection.status === 'closed') shown = working;
    for (const listener of [...listeners]) listener();
  }

  async function run(): Promise<ParlanceError | null> {
    try {
      const onState = (state: ConnectionState) => {
        connection = state;
        if (state.status === 'connecting') whole = false;
        // The snapshot that makes it live has not been folded yet.
        if (state.status !== 'live') notify();
      };
      for await (const event of events({ after: start.seq, signal: stop.signal, onState })) {
        const next = fold(working, event);
        if (event.type !== 'snapshot' && next === working) continue;
        working = next;
        whole ||= event.type === 'snapshot';
        if (event.type === 'snapshot') notify();
        else if (whole) due ??= clock.after(FRAME_MS, notify);
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
