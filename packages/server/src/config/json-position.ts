/** Locates syntax errors and values in JSON, which the runtime's parser does not report. */

const TOKEN =
  /[ \t\r\n]*(?:([{}[\],:])|("(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*")|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/uy;
const SPACE = /[ \t\r\n]*/y;

export type Position = { readonly line: number; readonly column: number };

/**
 * Position of the first unexpected character, or the end if something is missing. Null if the text is valid.
 */
export function positionOfError(text: string): Position | null {
  const scanner = new Scanner(text);
  const isJson = scanner.value() && scanner.isAtEnd();
  return isJson ? null : positionOf(text, scanner.at);
}

/** The position of a value in a text that is JSON, or of the innermost object or list on the way to it. */
export function positionOfValue(text: string, path: readonly PropertyKey[]): Position {
  const scanner = new Scanner(text, path);
  scanner.value();
  return positionOf(text, scanner.found);
}

class Scanner {
  at = 0;
  /** start of the value at `wanted`, as far as it exists; an entry of an object starts with its name */
  found = 0;
  /** how much of `wanted` leads to `found` */
  #depth = 0;

  constructor(
    private readonly text: string,
    private readonly wanted: readonly PropertyKey[] = [],
  ) {}

  isAtEnd(): boolean {
    this.#skipSpace();
    return this.at === this.text.length;
  }

  /** `depth`: how much of `wanted` leads to this value; null if it leads elsewhere. */
  value(depth: number | null = 0): boolean {
    const token = this.#peek();
    if (token === null) return false;
    if (token.mark === '{') return this.#list('}', () => this.#entry(depth));
    if (token.mark === '[') {
      let index = 0;
      return this.#list(']', () => this.value(this.#inside(depth, index++)));
    }
    return token.mark === undefined && this.#take(token.end);
  }

  #entry(depth: number | null): boolean {
    const name = this.#peek();
    if (name?.text === undefined) return false;
    const inside = this.#inside(depth, JSON.parse(name.text));
    return this.#take(name.end) && this.#mark(':') && this.value(inside);
  }

  /** The depth of the next value, which is noted if it is on the way. */
  #inside(depth: number | null, key: PropertyKey): number | null {
    if (depth === null || this.wanted[depth] !== key) return null;
    this.#skipSpace();
    if (depth + 1 > this.#depth) [this.#depth, this.found] = [depth + 1, this.at];
    return depth + 1;
  }

  #list(end: string, item: () => boolean): boolean {
    this.#mark(this.text[this.at] ?? '');
    if (this.#mark(end)) return true;
    do if (!item()) return false;
    while (this.#mark(','));
    return this.#mark(end);
  }

  #mark(mark: string): boolean {
    const token = this.#peek();
    return token?.mark === mark && this.#take(token.end);
  }

  #take(end: number): true {
    this.at = end;
    return true;
  }

  #skipSpace(): void {
    SPACE.lastIndex = this.at;
    SPACE.exec(this.text);
    this.at = SPACE.lastIndex;
  }

  #peek(): { readonly mark?: string; readonly text?: string; readonly end: number } | null {
    this.#skipSpace();
    TOKEN.lastIndex = this.at;
    const match = TOKEN.exec(this.text);
    return match && { mark: match[1], text: match[2], end: TOKEN.lastIndex };
  }
}

function positionOf(text: string, at: number): Position {
  const before = text.slice(0, at).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
