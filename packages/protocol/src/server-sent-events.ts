/** Server-sent events from arbitrarily split text, with a limit: for model APIs in the server, and for the SDK. */
import { createParser } from 'eventsource-parser';

/** `event` is undefined if the stream does not name it. */
export type ServerSentEvent = {
  readonly id?: string | undefined;
  readonly event?: string | undefined;
  readonly data: string;
};

const MAX_UNKNOWN_FIELDS = 1_000;

export class ServerSentEventParser {
  #complete: ServerSentEvent[] = [];
  /** characters since the last event: of an incomplete one, comments, empty lines and names */
  #waiting = 0;
  /** a line feed at the beginning of the next piece belongs to the carriage return before it */
  #afterReturn = false;
  #begun = false;
  #unknownFields = 0;
  readonly #parser = createParser({
    onEvent: (event) => {
      this.#complete.push(event);
      this.#waiting = 0;
    },
    // The parser creates an error for each, which takes a hundred times as long as to read the line.
    onError: () => {
      if (++this.#unknownFields > MAX_UNKNOWN_FIELDS)
        throw new RangeError('The stream has too many unknown fields.');
    },
  });

  /** `maxLength`: maximum number of characters from one event to the next. */
  constructor(private readonly maxLength = Number.POSITIVE_INFINITY) {}

  /** Returns the events that this piece completes. Throws a `RangeError` beyond the limits. */
  read(piece: string): readonly ServerSentEvent[] {
    if (piece === '') return [];
    const skipped = this.#begun ? this.#afterReturn && piece[0] === '\n' : piece[0] === '\uFEFF';
    this.#begun = true;
    this.#afterReturn = false;
    this.#complete = [];
    this.#waiting += piece.length;
    let text = skipped ? piece.slice(1) : piece;
    // The parser reads carriage returns in quadratic time, and waits after one that ends a piece.
    if (text.includes('\r')) {
      this.#afterReturn = text.endsWith('\r');
      text = text.replaceAll('\r\n', '\n');
      if (text.includes('\r')) text = text.replaceAll('\r', '\n');
    }
    this.#parser.feed(text);
    if (this.#waiting > this.maxLength)
      throw new RangeError('The stream has no events, or one that is too long.');
    return this.#complete;
  }

  /** Call at the end of the stream: returns an event whose last line was not terminated. */
  end(): readonly ServerSentEvent[] {
    return this.read('\n\n');
  }
}
