/** Reads server-sent events as they arrive. */
import { nowMicros } from '../measure/clock.ts';

type Take = (data: string, arrivedAt: number) => void;

/** Resolves when the stream has ended. */
export async function eachEvent(body: ReadableStream<Uint8Array>, take: Take): Promise<void> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body) {
    const arrivedAt = nowMicros();
    text += decoder.decode(chunk, { stream: true });
    let from = 0;
    for (let end = text.indexOf('\n', from); end !== -1; end = text.indexOf('\n', from)) {
      if (text.startsWith('data:', from)) take(text.slice(from + 5, end), arrivedAt);
      from = end + 1;
    }
    text = text.slice(from);
  }
}

export type EventReader = { close(): void };

/**
 * Resolves when the stream is open. `take` is called with the data of each event and the arrival time of its
 * last byte.
 */
export async function readEvents(
  url: string,
  headers: Record<string, string>,
  take: Take,
): Promise<EventReader> {
  const stop = new AbortController();
  const response = await fetch(url, {
    headers: { accept: 'text/event-stream', ...headers },
    signal: stop.signal,
  });
  if (!response.ok || !response.body) throw new Error(`${url} answered ${response.status}`);
  eachEvent(response.body, take).catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
  return { close: () => stop.abort() };
}
