/** A stream of server-sent events that reconnects. */

import { type ServerSentEvent, ServerSentEventParser } from '@parlance/protocol/server-sent-events';
import { ParlanceError } from './error.ts';
import type { HttpClient, HttpRequest } from './http-client.ts';
import { type Backoff, type Clock, delayMs, endsStream, sleep } from './retry.ts';

/** `connecting` lasts until history has been replayed; `live`: everything up to now has been yielded. */
export type ConnectionState =
  | { readonly status: 'connecting'; readonly failures: number }
  | { readonly status: 'live' }
  | {
      readonly status: 'waiting';
      /** milliseconds since the epoch */
      readonly retryAt: number;
      readonly failures: number;
      /** why the last connection ended */
      readonly fault: ParlanceError;
      /** reconnects immediately */
      readonly retryNow: () => void;
    }
  /** `fault` is null if the reader stopped */
  | { readonly status: 'closed'; readonly fault: ParlanceError | null };

export type WatchOptions = {
  /** Ends the iteration without an error. */
  readonly signal?: AbortSignal;
  readonly onState?: (state: ConnectionState) => void;
};

export type StreamContext = {
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly backoff: Backoff;
  /** A connection is dropped after this silence. The server sends a keep-alive every 15 s. */
  readonly silenceMs: number;
};

export type Source<Event> = {
  /** the request that continues after the events taken so far */
  request(): Pick<HttpRequest, 'path' | 'headers'>;
  /** Events to yield. Throws if the stream is malformed; the connection is then reopened. */
  take(frame: ServerSentEvent): readonly Event[];
  /** true for the event that ends the replay of history */
  isLive(event: Event): boolean;
};

/** Yields until the reader stops. Throws a `ParlanceError` if the server refuses (401, 403, 404, …). */
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

/** Frames of one connection, in the batches in which they arrived. */
async function* framesOf(
  { http, clock, silenceMs }: StreamContext,
  request: HttpRequest,
): AsyncGenerator<readonly ServerSentEvent[], void> {
  const response = await http.fetchOnce({
    ...request,
    headers: { accept: 'text/event-stream', ...request.headers },
  });
  if (!response.headers.get('content-type')?.startsWith('text/event-stream') || !response.body) {
    throw new ParlanceError('unexpected', 'The response is not an event stream.', {
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

/** The timeout runs only while reading: a slow consumer does not count as a silent server. */
function withTimeout<Read>(read: Promise<Read>, clock: Clock, silenceMs: number): Promise<Read> {
  return new Promise((resolve, reject) => {
    const timedOut = () => reject(new ParlanceError('unreachable', `No data for ${silenceMs / 1_000} s.`));
    const cancel = clock.after(silenceMs, timedOut);
    read.then(resolve, reject).finally(cancel);
  });
}
