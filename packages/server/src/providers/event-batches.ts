/** Server-sent events of a byte stream. */
import { createParser } from 'eventsource-parser';
import type { VendorEvent } from './wire.ts';

/** How many characters of an event are kept before it is complete. */
const LONGEST_EVENT = 32 * 1024 * 1024;

/**
 * The events, in batches of what arrived together: one promise a chunk, not one a token. Characters may be cut anywhere
 * between two chunks, and so may lines. Throws where the stream breaks or an event grows too long.
 */
export async function* eventBatches(
  body: ReadableStream<Uint8Array>,
  alive: () => void,
): AsyncGenerator<readonly VendorEvent[], void> {
  const decoder = new TextDecoder();
  let batch: VendorEvent[] = [];
  const parser = createParser({
    onEvent: ({ event, data }) => void batch.push({ event, data }),
    maxBufferSize: LONGEST_EVENT,
  });
  for await (const chunk of body) {
    alive();
    parser.feed(decoder.decode(chunk, { stream: true }));
    if (batch.length === 0) continue;
    yield batch;
    batch = [];
  }
  parser.feed(`${decoder.decode()}\n\n`); // an event whose last line was not ended
  if (batch.length > 0) yield batch;
}
