/** Events of a session: history after a position, then live events. */
import type { SessionId } from '@parlance/protocol';
import { Cursor, type SessionStreamEvent } from './cursor.ts';
import { reconnectingStream, type StreamContext, type WatchOptions } from './reconnecting-stream.ts';

export type EventsOptions = WatchOptions & {
  /** seq of the last known event; default 0: from the beginning */
  readonly after?: number;
};

/** Reconnects after the last event yielded. */
export function sessionEvents(
  context: StreamContext,
  session: SessionId,
  { after = 0, ...options }: EventsOptions,
): AsyncGenerator<SessionStreamEvent, void> {
  const cursor = new Cursor(session, after, context.clock.now);
  const source = {
    request: () => ({
      path: `/v1/sessions/${encodeURIComponent(session)}/events`,
      headers: cursor.seq > 0 ? { 'last-event-id': String(cursor.seq) } : undefined,
    }),
    take: cursor.take.bind(cursor),
    isLive: ({ type }: SessionStreamEvent) => type === 'snapshot',
  };
  return reconnectingStream(context, source, options);
}
