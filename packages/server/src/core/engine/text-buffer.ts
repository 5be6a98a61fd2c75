/** Join after this many pieces: a small string costs more memory than its characters. */
const MAX_PIECES = 16;

/** Append-only text on the token path; joined only when read. */
export class TextBuffer {
  readonly #pieces: string[] = [];
  /** number of leading pieces that are already joined */
  #settled = 0;
  #length = 0;

  /** in characters */
  get length(): number {
    return this.#length;
  }

  add(piece: string): void {
    this.#length += piece.length;
    this.#pieces.push(piece);
    if (this.#pieces.length - this.#settled < MAX_PIECES) return;
    this.#pieces.push(this.#pieces.splice(this.#settled).join(''));
    this.#settled++;
  }

  toString(): string {
    return this.#pieces.join('');
  }
}
