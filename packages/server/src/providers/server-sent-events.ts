/** Server-sent events, of a text that is cut anywhere. */
import { createParser } from 'eventsource-parser';
import type { VendorEvent } from './wire.ts';

/** How many characters of an event are kept before it is complete. */
const LONGEST_EVENT = 32 * 1024 * 1024;

export class ServerSentEvents {
  #complete: VendorEvent[] = [];
  readonly #parser = createParser({
    onEvent: ({ event, data }) => void this.#complete.push({ event, data }),
    maxBufferSize: LONGEST_EVENT,
  });

  /** The events that are complete with this piece. Throws where one grows too long. */
  read(piece: string): readonly VendorEvent[] {
    this.#parser.feed(piece);
    if (this.#complete.length === 0) return NONE;
    const complete = this.#complete;
    this.#complete = [];
    return complete;
  }

  /** An event whose last line was not ended. */
  end(): readonly VendorEvent[] {
    return this.read('\n\n');
  }
}

const NONE: readonly VendorEvent[] = [];
