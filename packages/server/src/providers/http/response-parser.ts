/** Parses HTTP/1.1 responses from arbitrarily split bytes. */
import { ChunkedDecoder, type Piece } from './chunked-decoder.ts';
import { badResponse, HttpError } from './error.ts';

export type Head = { readonly status: number; readonly headers: Headers };

const MAX_HEAD_LENGTH = 64 * 1024;

/** How the end of a body is known (RFC 9112, 6.3). */
type Framing =
  | { readonly by: 'length'; left: number }
  | { readonly by: 'chunks'; readonly chunks: ChunkedDecoder }
  | { readonly by: 'close' };

export class ResponseParser {
  /** Null until it is complete. The caller may reset it to null to free it. */
  head: Head | null = null;
  #begun: Buffer = Buffer.alloc(0);
  readonly #onHead: ((head: Head) => void) | undefined;
  #framing: Framing | null = null;
  #complete = false;
  #reusable = false;

  /** `onHead` is called when the head is complete, before any of the body. `read` rethrows its errors. */
  constructor(onHead?: (head: Head) => void) {
    this.#onHead = onHead;
  }

  /** Whether the response has ended. */
  get complete(): boolean {
    return this.#complete;
  }

  /** Whether the connection may be used for another request. */
  get reusable(): boolean {
    return this.#complete && this.#reusable;
  }

  /** Passes on the bytes of the body. Throws `BAD_ANSWER`. */
  read(bytes: Buffer, piece: Piece): void {
    const body = this.#framing ? bytes : this.#readHead(bytes);
    if (!body || !this.#framing) return;
    const end = this.#readBody(this.#framing, body, piece);
    // Unexpected bytes follow the response: the connection cannot be trusted.
    if (end < body.length) this.#reusable = false;
  }

  /** The server closed the connection. Throws `CONNECTION_LOST` if the response is incomplete. */
  close(): void {
    if (this.#framing?.by === 'close') this.#complete = true;
    if (!this.#complete) throw new HttpError('CONNECTION_LOST', 'The connection was closed too early.');
  }

  /** The bytes after the head; null until the head is complete. */
  #readHead(bytes: Buffer): Buffer | null {
    let unread = this.#begun.length === 0 ? bytes : Buffer.concat([this.#begun, bytes]);
    for (;;) {
      const end = unread.indexOf('\r\n\r\n');
      if ((end === -1 ? unread.length : end) > MAX_HEAD_LENGTH)
        throw badResponse('The head of the answer is too long.');
      if (end === -1) {
        this.#begun = unread;
        return null;
      }
      const lines = unread.toString('latin1', 0, end).split('\r\n');
      unread = unread.subarray(end + 4);
      if (this.#begin(lines)) {
        this.#begun = Buffer.alloc(0);
        return unread;
      }
    }
  }

  /** False for an interim response (1xx), which another one follows. */
  #begin([first = '', ...fields]: readonly string[]): boolean {
    const [, minor, code] = /^HTTP\/1\.([01]) (\d{3})(?: .*)?$/.exec(first) ?? [];
    const status = Number(code);
    if (minor === undefined || status < 100 || status === 101)
      throw badResponse('The answer is not HTTP/1.1.');
    if (status < 200) return false;
    const headers = headersOf(fields);
    this.#framing = framingOf(status, headers);
    this.#complete = this.#framing.by === 'length' && this.#framing.left === 0;
    const ambiguous = headers.has('transfer-encoding') && headers.has('content-length');
    const closes = minor === '0' || /(^|[\s,])close($|[\s,])/i.test(headers.get('connection') ?? '');
    this.#reusable = !ambiguous && !closes && this.#framing.by !== 'close';
    this.head = { status, headers };
    this.#onHead?.(this.head);
    return true;
  }

  /** Returns the end of the body or of the bytes. */
  #readBody(framing: Framing, bytes: Buffer, piece: Piece): number {
    if (this.#complete || bytes.length === 0) return 0;
    switch (framing.by) {
      case 'close':
        piece(bytes, 0, bytes.length);
        return bytes.length;
      case 'length': {
        const end = Math.min(bytes.length, framing.left);
        piece(bytes, 0, end);
        framing.left -= end;
        this.#complete = framing.left === 0;
        return end;
      }
      case 'chunks': {
        const end = framing.chunks.read(bytes, 0, piece);
        this.#complete = framing.chunks.complete;
        return end;
      }
    }
  }
}

function headersOf(fields: readonly string[]): Headers {
  const headers = new Headers();
  for (const field of unfolded(fields)) {
    const colon = field.indexOf(':');
    // A name must not be followed by a space (RFC 9112, 5.1).
    if (colon < 1 || /\s/.test(field.slice(0, colon)))
      throw badResponse('A header of the answer is not well formed.');
    try {
      headers.append(field.slice(0, colon), field.slice(colon + 1).trim());
    } catch (cause) {
      throw new HttpError('BAD_ANSWER', 'A header of the answer is not well formed.', { cause });
    }
  }
  return headers;
}

/** A line that begins with a space or a tab continues the value before it (RFC 9112, 5.2). */
function unfolded(fields: readonly string[]): readonly string[] {
  if (!fields.some((field) => /^[ \t]/.test(field))) return fields;
  const whole: string[] = [];
  for (const field of fields) {
    const before = whole.length > 0 && /^[ \t]/.test(field) ? whole.pop() : undefined;
    whole.push(before === undefined ? field : `${before.trimEnd()} ${field.trim()}`);
  }
  return whole;
}

function framingOf(status: number, headers: Headers): Framing {
  if (status === 204 || status === 304) return { by: 'length', left: 0 };
  const coding = headers.get('transfer-encoding');
  if (coding?.toLowerCase() === 'chunked') return { by: 'chunks', chunks: new ChunkedDecoder() };
  if (coding !== null) throw badResponse('The answer is coded in a way that is not understood.');
  const length = headers.get('content-length');
  if (length === null) return { by: 'close' };
  if (!/^\d{1,15}$/.test(length)) throw badResponse('The length of the answer is not a number.');
  return { by: 'length', left: Number(length) };
}
