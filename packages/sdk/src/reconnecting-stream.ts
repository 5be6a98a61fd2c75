/** A stream of server-sent events over as many connections as it takes. */

import { type ServerSentEvent, ServerSentEventParser } from '@parlance/protocol/server-sent-events';
import { type Clock, sleep } from './clock.ts';
import { ParlanceError } from './error.ts';
import { type Backoff, delayMs, endsStream } from './retry.ts';
import type { Wire, WireRequest } from './wire.ts';

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

export type WatchOptions = {
  /** Ends the iteration, without an error. */
  readonly signal?: AbortSignal;
  readonly onState?: (state: ConnectionState) => void;
};

export type StreamContext = {
  readonly wire: Wire;
  readonly clock: Clock;
  readonly backoff: Backoff;
  /** The server says something at least every 15 s. A connection that is silent for longer than this is given up. */
  readonly silenceMs: number;
};

export type Source<Event> = {
  /** what to ask for now, that is after what was taken before */
  request(): Pick<WireRequest, 'path' | 'headers'>;
  /** What the reader is to be told. Throws where the stream is not what it must be: it is then opened again. */
  take(frame: ServerSentEvent): readonly Event[];
  /** the event with which the past has been told */
  isLive(event: Event): boolean;
};

/** Yields for as long as the reader wants. Throws a `ParlanceError` where the server says no (401, 403, 404, …). */
export async function* reconnectingStream<Event>(
  context: StreamContext,
  source: Source<Event>,
  { signal, onState = () => undefined }: WatchOptions,
): AsyncGenerator<Event, void> {
  const { clock } = context;
  let failures = 0;
  let fault: ParlanceError | null = null;
  try {
    while (!signal?.aborted) {
      onState({ status: 'connecting', failures });
      const connection = new AbortController();
      const stop = () => connection.abort(signal?.reason);
      signal?.addEventListener('abort', stop, { once: true });
      try {
        const request = { ...source.request(), signal: connection.signal };
        for await (const frames of framesOf(context, request)) {
          for (const event of frames.flatMap((frame) => source.take(frame))) {
            if (source.isLive(event)) {
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
      const wait = delayMs(context, failures++, fault);
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
async function* framesOf(
  { wire, clock, silenceMs }: StreamContext,
  request: WireRequest,
): AsyncGenerator<ServerSentEvent[], void> {
  const response = await wire.fetchOnce({
    ...request,
    headers: { accept: 'text/event-stream', ...request.headers },
  });
  if (!response.headers.get('content-type')?.startsWith('text/event-stream') || !response.body) {
    throw new ParlanceError('unexpected', 'Something answered that is not a stream of events.', {
      status: response.status,
    });
  }
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  const parser = new ServerSentEventParser();
  for (;;) {
    const { value, done } = await withTimeout(reader.read(), clock, silenceMs);
    if (done) return;
    yield parser.read(decoder.decode(value, { stream: true }));
  }
}

/** The clock runs only while we listen: a reader that takes its time is not the server's silence. */
function withTimeout<Read>(read: Promise<Read>, clock: Clock, silenceMs: number): Promise<Read> {
  return new Promise((resolve, reject) => {
    const timedOut = () =>
      reject(new ParlanceError('unreachable', `Nothing was heard for ${silenceMs / 1_000} s.`));
    const cancel = clock.after(silenceMs, timedOut);
    read.then(resolve, reject).finally(cancel);
  });
}
