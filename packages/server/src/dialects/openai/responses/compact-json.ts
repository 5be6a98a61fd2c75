/**
 * Removes whitespace between JSON tokens while they are streamed, so that streamed and stored arguments are the
 * same.
 */
export class CompactJson {
  #inString = false;
  #escapes = false;

  add(text: string): string {
    let compact = '';
    for (const character of text) {
      if (this.#inString || !/\s/.test(character)) compact += character;
      if (this.#escapes) this.#escapes = false;
      else if (character === '"') this.#inString = !this.#inString;
      else if (character === '\\') this.#escapes = this.#inString;
    }
    return compact;
  }
}
