/** The events of a session: what has happened after a position, and then what happens. */
import type { SessionId } from '@parlance/protocol';
import type { SessionStreamEvent } from './answers.ts';
import { Cursor } from './cursor.ts';
import { reconnectingStream, type StreamContext, type WatchOptions } from './reconnecting-stream.ts';

export type EventsOptions = WatchOptions & {
  /** the number of the last event that is known; 0, or left out, for everything from the beginning */
  readonly after?: number;
};

/** A connection that ends is opened again after the last event that was yielded. */
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
