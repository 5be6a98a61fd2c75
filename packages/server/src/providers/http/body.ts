import type { Piece } from './chunked-decoder.ts';
import type { Decompression, End, Sink, Source } from './decompression.ts';
import { Utf8 } from './utf8.ts';

/** The text of a response body, as it arrives. */
export interface Body {
  /** Resolves with the text received since the last read, or with the next piece; null at the end. */
  read(): Promise<string | null>;
  /** Called with pieces that arrive while a read is pending. If it returns true, the read does not get the piece. */
  onText?: (piece: string) => boolean;
  /** Stops reading and closes the connection, unless the body has ended. */
  cancel(): void;
}

/** Pauses the socket if more characters than this are unread. */
const MAX_WAITING = 1024 * 1024;

type Pending = { resolve(piece: string | null): void; reject(thrown: unknown): void };

/** A queue between a socket that pushes and one reader that pulls. */
export class BodyQueue implements Body {
  onText?: (piece: string) => boolean;
  #waiting: string[] = [];
  #characters = 0;
  #paused = false;
  #pending: Pending | null = null;
  /** decoded since the last flush */
  #arrived = '';
  #end: End | null = null;
  #decompression: Decompression | null = null;
  readonly #text = new Utf8();

  constructor(private readonly source: Source) {}

  /** Bytes of the body. Their text is read after `flush`. */
  readonly push: Piece = (bytes, start, end) => {
    if (this.#decompression) this.#decompression.write(bytes.subarray(start, end));
    else this.#arrived += this.#text.read(bytes, start, end);
  };

  /** All chunks of one socket read become one piece, so that a slow server sends fewer frames. */
  flush(): void {
    const piece = this.#arrived;
    this.#arrived = '';
    this.#add(piece);
  }

  /** Decompresses everything pushed from now on. */
  decompress(open: (source: Source, sink: Sink) => Decompression): void {
    this.#decompression = open(this.source, {
      bytes: (piece) => this.#add(this.#text.read(piece, 0, piece.length)),
      end: (end) => this.#finish(end),
    });
  }

  #add(piece: string): void {
    if (piece === '') return; // the beginning of a character
    const pending = this.#pending;
    if (pending) {
      this.#pending = null;
      if (this.onText?.(piece)) this.#pending = pending;
      else pending.resolve(piece);
      return;
    }
    this.#waiting.push(piece);
    this.#characters += piece.length;
    if (this.#paused || this.#characters <= MAX_WAITING) return;
    this.#paused = true;
    (this.#decompression ?? this.source).pause();
  }

  /** Text pushed before can still be read. */
  end(end: End): void {
    if (end.kind === 'complete' && this.#decompression) this.#decompression.end();
    else this.#finish(end);
  }

  #finish(end: End): void {
    if (this.#end) return;
    this.flush();
    if (end.kind === 'complete') this.#add(this.#text.end());
    this.#end = end;
    this.#resume(); // what comes next on the connection is another response
    const pending = this.#pending;
    this.#pending = null;
    if (!pending) return;
    if (end.kind === 'complete') pending.resolve(null);
    else pending.reject(end.thrown);
  }

  read(): Promise<string | null> {
    if (this.#waiting.length > 0) return Promise.resolve(this.#taken());
    if (this.#end?.kind === 'complete') return Promise.resolve(null);
    if (this.#end) return Promise.reject(this.#end.thrown);
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject };
    });
  }

  cancel(): void {
    const over = this.#end !== null || this.#decompression?.complete === true;
    this.#finish({ kind: 'complete' });
    this.#decompression?.stop();
    this.#waiting = [];
    if (!over) this.source.abandon();
  }

  #taken(): string {
    const piece = this.#waiting.join('');
    this.#waiting = [];
    this.#characters = 0;
    this.#resume();
    return piece;
  }

  #resume(): void {
    if (this.#paused) (this.#decompression ?? this.source).resume();
    this.#paused = false;
  }
}
