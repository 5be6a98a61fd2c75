/**
 * Parses server-sent events (HTML standard) from arbitrarily split text. Shared by the server, which uses it
 * for model APIs, and the SDK. It has no imports, so that the SDK stays free of dependencies.
 */

/** `event` is undefined if the stream does not name it. Ids and retry intervals are dropped. */
export type ServerSentEvent = { readonly event: string | undefined; readonly data: string };

const BYTE_ORDER_MARK = '\uFEFF';

/** Runs once per token: a line costs one search and one slice, and a stream has a few fields and no closures. */
export class ServerSentEventParser {
  /** the `data` lines of the incomplete event, and its name */
  #data: string[] = [];
  #event = '';
  /** the incomplete line, in pieces */
  #line: string[] = [];
  /** characters in `#data` and `#line` */
  #kept = 0;
  /** characters since the last event in lines that are no data: comments, empty lines, names */
  #ignored = 0;
  /** a line feed at the beginning of the next piece belongs to the carriage return before it */
  #afterReturn = false;
  #begun = false;

  /** `maxLength`: maximum number of characters of an incomplete event, and of what is ignored between two events. */
  constructor(private readonly maxLength = Number.POSITIVE_INFINITY) {}

  /** Returns the events that this piece completes. Throws a `RangeError` beyond `maxLength`. */
  read(piece: string): ServerSentEvent[] {
    const complete: ServerSentEvent[] = [];
    if (piece === '') return complete;
    let at = this.#start(piece);
    // Each is searched again only after it was passed, so that a piece is scanned once.
    let carriageReturn = piece.indexOf('\r', at);
    let lineFeed = piece.indexOf('\n', at);
    for (;;) {
      if (carriageReturn !== -1 && carriageReturn < at) carriageReturn = piece.indexOf('\r', at);
      if (lineFeed !== -1 && lineFeed < at) lineFeed = piece.indexOf('\n', at);
      const returned = carriageReturn !== -1 && (lineFeed === -1 || carriageReturn < lineFeed);
      const end = returned ? carriageReturn : lineFeed;
      if (end === -1) break;
      const event = this.#lineEnded(piece.slice(at, end));
      if (event) complete.push(event);
      at = end + 1;
      if (!returned) continue;
      if (piece[at] === '\n') at++;
      else this.#afterReturn = at === piece.length;
    }
    if (at < piece.length) this.#keep(this.#line, at === 0 ? piece : piece.slice(at));
    return complete;
  }

  /** Call at the end of the stream: returns an event whose last line was not terminated. */
  end(): ServerSentEvent[] {
    return this.read('\n\n');
  }

  #start(piece: string): number {
    const first = piece[0];
    const skipped = this.#begun ? this.#afterReturn && first === '\n' : first === BYTE_ORDER_MARK;
    this.#begun = true;
    this.#afterReturn = false;
    return skipped ? 1 : 0;
  }

  #keep(pieces: string[], piece: string): void {
    this.#kept += piece.length;
    if (this.#kept > this.maxLength) throw new RangeError('An event of the stream is too long.');
    pieces.push(piece);
  }

  /** An empty line completes the event. */
  #lineEnded(rest: string): ServerSentEvent | null {
    let line = rest;
    if (this.#line.length > 0) {
      line = this.#line.join('') + rest;
      this.#kept -= line.length - rest.length;
      this.#line = [];
    }
    if (line === '') return this.#eventEnded() ?? this.#ignore(line);
    const colon = line.indexOf(':');
    // A line that begins with a colon is a comment; one without a colon is a field without a value.
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'data') this.#keep(this.#data, value);
    else if (field === 'event') this.#event = value;
    return field === 'data' ? null : this.#ignore(line);
  }

  #ignore(line: string): null {
    this.#ignored += line.length + 1;
    if (this.#ignored > this.maxLength) throw new RangeError('The stream has no events.');
    return null;
  }

  #eventEnded(): ServerSentEvent | null {
    const [data, event] = [this.#data, this.#event];
    this.#event = '';
    if (data.length === 0) return null;
    this.#data = [];
    this.#kept = 0;
    this.#ignored = 0;
    return { event: event || undefined, data: data.length === 1 ? (data[0] as string) : data.join('\n') };
  }
}
