/** Decodes the chunked transfer coding (RFC 9112, 7.1) from arbitrarily split bytes. Buffers no bytes. */
import { badResponse } from './error.ts';

/** Chunks of up to 4 GB. */
const MAX_DIGITS = 8;
/** Extensions and trailers are ignored, up to this length. */
const MAX_SKIPPED = 16 * 1024;

const CR = 0x0d;
const LF = 0x0a;

type Expected =
  | 'size'
  | 'chunk extension'
  | 'end of size'
  | 'data'
  | 'CR after data'
  | 'LF after data'
  | 'trailer or end'
  | 'trailer'
  | 'end'
  | 'nothing';

/** Called with the range of bytes that belongs to the body. */
export type Piece = (bytes: Buffer, start: number, end: number) => void;

export class ChunkedDecoder {
  #expected: Expected = 'size';
  /** missing bytes of the current chunk, once its size is known */
  #left = 0;
  #digits = 0;
  /** length of the current extension, or of all trailers */
  #skipped = 0;

  get complete(): boolean {
    return this.#expected === 'nothing';
  }

  /**
   * Passes on the data in `bytes` from `at` on. Returns the end of the body or of the bytes. Throws
   * `BAD_ANSWER`.
   */
  read(bytes: Buffer, at: number, piece: Piece): number {
    let next = at;
    while (next < bytes.length && this.#expected !== 'nothing') {
      if (this.#expected === 'data') {
        const end = Math.min(bytes.length, next + this.#left);
        piece(bytes, next, end);
        this.#left -= end - next;
        next = end;
        if (this.#left === 0) this.#expected = 'CR after data';
      } else {
        this.#expected = this.#after(bytes[next] as number);
        next += 1;
      }
    }
    return next;
  }

  #after(byte: number): Expected {
    switch (this.#expected) {
      case 'size':
        if (byte === CR) return 'end of size';
        return byte === 0x3b || byte === 0x20 || byte === 0x09 ? 'chunk extension' : this.#digit(byte);
      case 'chunk extension':
        must(byte !== LF);
        return byte === CR ? 'end of size' : this.#skip('chunk extension');
      case 'end of size':
        must(byte === LF && this.#digits > 0);
        this.#digits = 0;
        this.#skipped = 0;
        return this.#left > 0 ? 'data' : 'trailer or end';
      case 'CR after data':
        must(byte === CR);
        return 'LF after data';
      case 'LF after data':
        must(byte === LF);
        return 'size';
      case 'trailer or end':
        return byte === CR ? 'end' : this.#skip('trailer');
      case 'trailer':
        return byte === LF ? 'trailer or end' : this.#skip('trailer');
      case 'end':
        must(byte === LF);
        return 'nothing';
      case 'data':
      case 'nothing':
        return this.#expected;
    }
  }

  #digit(byte: number): Expected {
    const value = digitOf(byte);
    this.#digits += 1;
    must(value !== -1 && this.#digits <= MAX_DIGITS);
    this.#left = this.#left * 16 + value;
    return 'size';
  }

  #skip(expected: Expected): Expected {
    this.#skipped += 1;
    must(this.#skipped <= MAX_SKIPPED);
    return expected;
  }
}

function must(holds: boolean): void {
  if (!holds) throw badResponse('The chunks of the response are malformed.');
}

/** -1 if it is not a hexadecimal digit. */
function digitOf(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x61 + 10 : -1;
}
