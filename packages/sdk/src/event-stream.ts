/** The events of a session, over as many connections as it takes. */
import type { SessionId } from '@parlance/protocol';
import type { SessionStreamEvent } from './answers.ts';
import { type Clock, sleep } from './clock.ts';
import { Cursor } from './cursor.ts';
import { ParlanceError } from './error.ts';
import { type Backoff, delayMs, endsStream } from './retry.ts';
import { frameReader } from './server-sent-events.ts';
import type { Wire } from './wire.ts';

/**
 * What is true of the connection at this moment. `connecting` lasts until the past has been told; `live` means that
 * what has been yielded is all there is.
 */
export type ConnectionState =
  | { readonly status: 'connecting'; readonly failures: number }
  | { readonly status: 'live' }
  | {
      readonly status: 'waiting';
      /** milliseconds since 1970 */
      readonly retryAt: number;
      readonly failures: number;
      /** why the last connection ended */
      readonly fault: ParlanceError;
      /** does not wait any longer */
      readonly retryNow: () => void;
    }
  /** `fault` is null where the reader wanted no more */
  | { readonly status: 'closed'; readonly fault: ParlanceError | null };

export type EventsOptions = {
  /** the number of the last fact that is known; 0, or left out, for everything from the beginning */
  readonly after?: number;
  /** Ends the iteration, without an error. */
  readonly signal?: AbortSignal;
  readonly onState?: (state: ConnectionState) => void;
};

export type StreamOptions = {
  readonly clock: Clock;
  readonly backoff: Backoff;
  /** The server says something at least every 15 s. A connection that is silent for longer than this is given up. */
  readonly silenceMs: number;
};

/**
 * Everything after `after`, then what happens, for as long as the reader wants. A connection that ends is opened
 * again after the last fact that was yielded. Throws a `ParlanceError` where the server says no (401, 403, 404, …).
 */
export async function* sessionEvents(
  wire: Wire,
  session: SessionId,
  { after = 0, signal, onState = () => undefined }: EventsOptions,
  { clock, backoff, silenceMs }: StreamOptions,
): AsyncGenerator<SessionStreamEvent, void> {
  const cursor = new Cursor(session, after, clock.now);
  let failures = 0;
  let fault: ParlanceError | null = null;
  try {
    while (!signal?.aborted) {
      onState({ status: 'connecting', failures });
      const connection = new AbortController();
      const stop = () => connection.abort(signal?.reason);
      signal?.addEventListener('abort', stop, { once: true });
      try {
        for await (const bytes of chunks(wire, session, cursor.seq, connection.signal, clock, silenceMs)) {
          for (const event of bytes.flatMap((frame) => cursor.take(frame))) {
            if (event.type === 'snapshot') {
              failures = 0;
              onState({ status: 'live' });
            }
            yield event;
          }
        }
        fault = new ParlanceError('unreachable', 'The server ended the stream.');
      } catch (thrown) {
        if (signal?.aborted) break;
        fault = thrown instanceof ParlanceError ? thrown : lost(thrown);
        if (endsStream(fault)) throw fault;
      } finally {
        signal?.removeEventListener('abort', stop);
        connection.abort();
      }
      const wait = delayMs(backoff, failures++, fault, clock);
      const { over, wake } = sleep(clock, wait, signal);
      onState({ status: 'waiting', retryAt: clock.now() + wait, failures, fault, retryNow: wake });
      await over.catch(() => undefined);
      fault = null;
    }
  } finally {
    onState({ status: 'closed', fault });
  }
}

const lost = (thrown: unknown): ParlanceError =>
  new ParlanceError('unreachable', 'The connection was lost.', { cause: thrown });

/** The frames of one connection, as many at once as came at once. */
async function* chunks(
  wire: Wire,
  session: SessionId,
  after: number,
  signal: AbortSignal,
  clock: Clock,
  silenceMs: number,
) {
  const response = await wire.once({
    path: `/v1/sessions/${encodeURIComponent(session)}/events`,
    headers: { accept: 'text/event-stream', ...(after > 0 ? { 'last-event-id': String(after) } : {}) },
    signal,
  });
  if (!response.headers.get('content-type')?.startsWith('text/event-stream') || !response.body) {
    throw new ParlanceError('unexpected', 'Something answered that is not a stream of events.', {
      status: response.status,
    });
  }
  const reader = response.body.getReader();
  const frames = frameReader();
  for (;;) {
    const { value, done } = await heard(reader.read(), clock, silenceMs);
    if (done) return;
    yield frames.read(value);
  }
}

/** The clock runs only while we listen: a reader that takes its time is not the server's silence. */
function heard<Read>(read: Promise<Read>, clock: Clock, silenceMs: number): Promise<Read> {
  return new Promise((resolve, reject) => {
    const silent = () =>
      reject(new ParlanceError('unreachable', `Nothing was heard for ${silenceMs / 1_000} s.`));
    const cancel = clock.after(silenceMs, silent);
    read.then(resolve, reject).finally(cancel);
  });
}
