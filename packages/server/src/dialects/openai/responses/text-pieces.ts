/**
 * Splits a text into the pieces of its delta events. The positions depend on the text alone, not on how the
 * model streams it: a stored text has the same events, with the same numbers, as when it was streamed.
 */

const MAX_LENGTH = 32;
/** Scripts from this code point on are written without spaces. */
const UNSPACED = 0x2e80;

export class TextPieces {
  #rest = '';
  /** length of the rest that is known to have no end of a piece */
  #seen = 0;

  /** The pieces that are complete now. */
  add(text: string): string[] {
    this.#rest += text;
    const pieces: string[] = [];
    let from = 0;
    for (let at = this.#seen; at < this.#rest.length; at++) {
      if (!endsPiece(this.#rest, at, at - from + 1)) continue;
      pieces.push(this.#rest.slice(from, at + 1));
      from = at + 1;
    }
    this.#rest = this.#rest.slice(from);
    this.#seen = this.#rest.length;
    return pieces;
  }

  /** The last piece, unless the text ended with one. */
  end(): string[] {
    const last = this.#rest;
    this.#rest = '';
    this.#seen = 0;
    return last === '' ? [] : [last];
  }
}

function endsPiece(text: string, at: number, length: number): boolean {
  const code = text.charCodeAt(at);
  const isHalf = code >= 0xd800 && code < 0xdc00;
  if (isHalf) return false;
  return code <= 0x20 || code >= UNSPACED || length >= MAX_LENGTH;
}
