/**
 * Server-sent events, of a text that is cut anywhere. By hand, as it is on the path of every token: a line costs a
 * search and a cut, and a stream a few fields.
 */
import type { VendorEvent } from './wire.ts';

/** How many characters of an event are kept before it is complete. */
const LONGEST_EVENT = 32 * 1024 * 1024;

const BYTE_ORDER_MARK = '\uFEFF';

export class ServerSentEvents {
  /** of the event that is not complete: the values of its `data` lines, and its name */
  #data: string[] = [];
  #event = '';
  /** the beginning of a line, in the pieces in which it came */
  #line: string[] = [];
  /** how many characters data and line have */
  #kept = 0;
  /** a line feed that comes next belongs to the carriage return before it */
  #afterReturn = false;
  #begun = false;

  /** The events that are complete with this piece. Throws where one grows too long. */
  read(piece: string): readonly VendorEvent[] {
    if (piece === '') return [];
    let at = this.#start(piece);
    const complete: VendorEvent[] = [];
    // The next of each, looked for again only when it is passed: a piece is not searched more than once for either.
    let carriageReturn = piece.indexOf('\r', at);
    let lineFeed = piece.indexOf('\n', at);
    for (;;) {
      if (carriageReturn !== -1 && carriageReturn < at) carriageReturn = piece.indexOf('\r', at);
      if (lineFeed !== -1 && lineFeed < at) lineFeed = piece.indexOf('\n', at);
      const returned = carriageReturn !== -1 && (lineFeed === -1 || carriageReturn < lineFeed);
      const end = returned ? carriageReturn : lineFeed;
      if (end === -1) break;
      const event = this.#ended(piece.slice(at, end));
      if (event) complete.push(event);
      at = end + 1;
      if (!returned) continue;
      if (piece[at] === '\n') at++;
      else this.#afterReturn = at === piece.length;
    }
    if (at < piece.length) this.#keep(this.#line, at === 0 ? piece : piece.slice(at));
    return complete;
  }

  /** An event whose last line was not ended. */
  end(): readonly VendorEvent[] {
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
    if (this.#kept > LONGEST_EVENT) throw new RangeError('An event of the stream is too long.');
    pieces.push(piece);
  }

  /** An empty line completes the event. */
  #ended(rest: string): VendorEvent | null {
    let line = rest;
    if (this.#line.length > 0) {
      line = this.#line.join('') + rest;
      this.#kept -= line.length - rest.length;
      this.#line = [];
    }
    if (line === '') return this.#complete();
    const colon = line.indexOf(':');
    // What begins with a colon is a comment; a line without one is a field without a value.
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'data') this.#keep(this.#data, value);
    else if (field === 'event') this.#event = value;
    return null;
  }

  #complete(): VendorEvent | null {
    const [data, event] = [this.#data, this.#event];
    this.#event = '';
    if (data.length === 0) return null;
    this.#data = [];
    this.#kept = 0;
    return { event: event || undefined, data: data.length === 1 ? (data[0] as string) : data.join('\n') };
  }
}
