/** Locates JSON syntax errors, which the runtime's parser does not report. */

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

/** The first place at which the text, which is JSON, has the name of a field. */
export function positionOfKey(text: string, key: string): Position {
  const at = text.search(new RegExp(`${RegExp.escape(JSON.stringify(key))}\\s*:`));
  return positionOf(text, Math.max(at, 0));
}

class Scanner {
  at = 0;

  constructor(private readonly text: string) {}

  isAtEnd(): boolean {
    this.#skipSpace();
    return this.at === this.text.length;
  }

  value(): boolean {
    const token = this.#peek();
    if (token === null) return false;
    if (token.mark === '{') return this.#list('}', () => this.#entry());
    if (token.mark === '[') return this.#list(']', () => this.value());
    return token.mark === undefined && this.#take(token.end);
  }

  #entry(): boolean {
    const name = this.#peek();
    return name?.text !== undefined && this.#take(name.end) && this.#mark(':') && this.value();
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
