/** Server-sent events of a byte stream. */
import { createParser } from 'eventsource-parser';
import type { Body } from './http/body.ts';
import type { VendorEvent } from './wire.ts';

/** How many characters of an event are kept before it is complete. */
const LONGEST_EVENT = 32 * 1024 * 1024;
/** How long the end of a stream is waited for after the answer is complete. */
const LAST_BYTES_MS = 1000;

/**
 * The events, in batches of what arrived together: one promise a chunk, not one a token. Characters may be cut anywhere
 * between two chunks, and so may lines. Throws where the stream breaks or an event grows too long. Where it is left
 * early, the connection is closed, unless `complete` says that nothing more is wanted: then it may be used again.
 */
export async function* eventBatches(
  body: Body,
  alive: () => void,
  complete: () => boolean,
): AsyncGenerator<readonly VendorEvent[], void> {
  const decoder = new TextDecoder();
  let batch: VendorEvent[] = [];
  const parser = createParser({
    onEvent: ({ event, data }) => void batch.push({ event, data }),
    maxBufferSize: LONGEST_EVENT,
  });
  try {
    for (;;) {
      const { value } = await body.read();
      if (!value) break;
      alive();
      parser.feed(decoder.decode(value, { stream: true }));
      if (batch.length === 0) continue;
      yield batch;
      batch = [];
    }
    parser.feed(`${decoder.decode()}\n\n`); // an event whose last line was not ended
    if (batch.length > 0) yield batch;
  } finally {
    void close(body, complete());
  }
}

/** A connection whose last bytes were read is used again. Nobody waits for this, and how it ends is all the same. */
async function close(body: Body, readOn: boolean): Promise<void> {
  const cancel = () => body.cancel().catch(() => undefined);
  if (!readOn) return void (await cancel());
  const timer = setTimeout(cancel, LAST_BYTES_MS);
  for (let over = false; !over; ) {
    over = await body.read().then(
      ({ done }) => done,
      () => true,
    );
  }
  clearTimeout(timer);
}
