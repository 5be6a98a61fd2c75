/** This many pieces are joined: a small string costs more memory than its characters. */
const MOST_PIECES = 16;

/** A text that grows at its end, on the token path; joined only when it is read. */
export class TextBuffer {
  readonly #pieces: string[] = [];
  /** how many of the first pieces are joined already */
  #settled = 0;
  #length = 0;

  /** in characters */
  get length(): number {
    return this.#length;
  }

  add(piece: string): void {
    this.#length += piece.length;
    this.#pieces.push(piece);
    if (this.#pieces.length - this.#settled < MOST_PIECES) return;
    this.#pieces.push(this.#pieces.splice(this.#settled).join(''));
    this.#settled++;
  }

  toString(): string {
    return this.#pieces.join('');
  }
}
