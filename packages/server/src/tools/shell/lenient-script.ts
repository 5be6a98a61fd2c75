/**
 * Finds the commands in any shell script, for rules that deny: it may find too many, and marks what it cannot
 * parse as open. `script.ts` decides what is known to be safe and is stricter.
 */

export type LenientWord = {
  /** without quotes; expansions are verbatim */
  readonly text: string;
  /** the prefix that no expansion can change; all of `text` if there is no expansion */
  readonly known: string;
  /** the shell may split it into several words, or none */
  readonly splits: boolean;
};

export type LenientScript = {
  readonly commands: readonly (readonly LenientWord[])[];
  /** whether every command was found */
  readonly readable: boolean;
};

export const fixedWord = (text: string): LenientWord => ({ text, known: text, splits: false });

export const isOpen = (word: LenientWord): boolean => word.known !== word.text;

const MAX_SCRIPT_LENGTH = 65_536;
const MAX_SUBSTITUTION_DEPTH = 16;

export function readLeniently(script: string, depth = 0): LenientScript {
  if (script.length > MAX_SCRIPT_LENGTH || depth > MAX_SUBSTITUTION_DEPTH)
    return { commands: [], readable: false };
  return new Reader(script, depth).read();
}

type HereDocument = {
  readonly delimiter: string;
  readonly quoted: boolean;
  readonly stripsTabs: boolean;
  /** where its operator ends */
  readonly after: number;
};

const BETWEEN_COMMANDS = new Set(';&|()\n\r');
const ENDS_WORD = new Set(' \t;&|()<>\n\r');
const GLOBS = new Set('*?[{');
/** Expansions that only insert the value of a variable; `!` and `@` operators can run the value. */
const PLAIN_BRACES = /^\$\{#?(\w+|[@*#?$-])(\[[\w@*]+\])?([:#%/^,=+?-][^'"\\`{}()]*)?\}/;
const PLAIN_REGEX = /^[ \t]+[^\s()#'"<>|&;`\\]+[ \t]+\]\]/;
const REDIRECTIONS = ['<<<', '<<-', '<<', '<>', '<&', '>>', '>&', '>|', '<', '>'];

class WordBuilder {
  #text = '';
  #known: string | null = null;
  #splits = false;

  add(text: string): void {
    this.#text += text;
  }

  expand(source: string, splits: boolean): void {
    this.#known ??= this.#text;
    this.#text += source;
    this.#splits ||= splits;
  }

  build(): LenientWord {
    return { text: this.#text, known: this.#known ?? this.#text, splits: this.#splits };
  }
}

class Reader {
  #at = 0;
  #readable = true;
  #words: LenientWord[] = [];
  #documents: HereDocument[] = [];
  readonly #commands: (readonly LenientWord[])[] = [];

  constructor(
    private readonly script: string,
    private readonly depth: number,
  ) {}

  read(): LenientScript {
    // Shells differ in their treatment of a carriage return.
    if (this.script.includes('\r')) this.#readable = false;
    while (this.#at < this.script.length) this.#next(this.#here);
    return this.#end();
  }

  /** Parses the commands from `from` to the closing parenthesis. */
  readSubstitution(from: number): LenientScript & { readonly end: number } {
    let open = 1;
    for (this.#at = from; this.#at < this.script.length; this.#next(this.#here)) {
      if (this.#here === '(') open++;
      else if (this.#here === ')' && --open === 0) break;
    }
    if (open > 0) this.#readable = false;
    // `case` patterns have unbalanced parentheses.
    if (this.#commands.concat([this.#words]).some((words) => words.some(({ text }) => text === 'case')))
      this.#readable = false;
    const end = this.#at;
    return { ...this.#end(), end };
  }

  #end(): LenientScript {
    if (this.#documents.length > 0) this.#readable = false;
    this.#endCommand();
    return { commands: this.#commands, readable: this.#readable };
  }

  get #here(): string {
    return this.script.charAt(this.#at);
  }

  get #following(): string {
    return this.script.charAt(this.#at + 1);
  }

  #next(character: string): void {
    if (character === ' ' || character === '\t') this.#at++;
    else if (character === '\\' && this.#following === '\n') this.#at += 2;
    else if (character === '#') this.#moveTo(this.script.indexOf('\n', this.#at));
    else if (BETWEEN_COMMANDS.has(character)) {
      this.#endCommand();
      if (this.script.startsWith('((', this.#at) && arithmeticAt(this.script, this.#at) === 0)
        this.#readable = false;
      this.#at++;
      if (character === '\n') this.#skipDocuments();
    } else if (character === '<' || character === '>') this.#redirection();
    else this.#argument();
  }

  #argument(): void {
    const begin = this.#at;
    const word = this.#word();
    // The number in `2>file` belongs to the redirection.
    const descriptor = /^\d+$/.test(this.script.slice(begin, this.#at)) && /[<>]/.test(this.#here);
    if (!descriptor) this.#words.push(word);
    const raw = this.script.slice(begin, this.#at);
    const subscript = /^\w+\[[^\]]*$/.test(raw);
    const extendedGlob = this.#here === '(' && /[?*+@!]$/.test(raw);
    const regex = raw === '=~' && !PLAIN_REGEX.test(this.script.slice(this.#at, this.#at + 1_000));
    if (subscript || extendedGlob || regex) this.#readable = false;
  }

  #endCommand(): void {
    if (this.#words.length > 0) this.#commands.push(this.#words);
    this.#words = [];
  }

  /** To the end of the script if there is none. */
  #moveTo(place: number): void {
    this.#at = place === -1 ? this.script.length : place;
  }

  /** The target is a file. A here-document is text; a shell that reads one has no script, which is open anyway. */
  #redirection(): void {
    const operator = REDIRECTIONS.find((one) => this.script.startsWith(one, this.#at)) ?? '<';
    this.#at += operator.length;
    if (this.#here === '(') return; // <(commands)
    while (this.#here === ' ' || this.#here === '\t') this.#at++;
    const begin = this.#at;
    const { text: delimiter } = this.#word();
    const raw = this.script.slice(begin, this.#at);
    if (raw === '' || raw.startsWith('#')) this.#readable = false;
    if (operator !== '<<' && operator !== '<<-') return;
    if (/[$`\n]/.test(raw)) this.#readable = false;
    const quoted = /['"\\]/.test(raw);
    this.#documents.push({ delimiter, quoted, stripsTabs: operator === '<<-', after: this.#at });
  }

  /** Here-documents begin after their line, and each ends with a line that is its delimiter. */
  #skipDocuments(): void {
    const documents = this.#documents;
    this.#documents = [];
    for (const { delimiter, quoted, stripsTabs, after } of documents) {
      // Shells differ in where a document begins if its line continues after a newline.
      if (documents[0]?.after === after && this.script.slice(after, this.#at - 1).includes('\n'))
        this.#readable = false;
      const begin = this.#at;
      let end = begin;
      for (let found = false; !found; ) {
        if (this.#at >= this.script.length) {
          this.#readable = false;
          return;
        }
        end = this.#at;
        const newline = this.script.indexOf('\n', end);
        const line = this.script.slice(end, newline === -1 ? undefined : newline);
        found = (stripsTabs ? line.replace(/^\t+/, '') : line) === delimiter;
        this.#moveTo(newline === -1 ? -1 : newline + 1);
      }
      const body = this.script.slice(begin, end).replace(/\$\{\w+\}/g, '');
      if (!quoted && /\$[({[]|`|\\\n/.test(body)) this.#readable = false;
    }
  }

  #word(): LenientWord {
    const word = new WordBuilder();
    while (this.#at < this.script.length && !ENDS_WORD.has(this.#here)) {
      const character = this.#here;
      if (character === "'") word.add(this.#singleQuoted());
      else if (character === '"') this.#doubleQuoted(word);
      else if (character === '\\') {
        if (this.#following !== '\n') word.add(this.#following);
        this.#at += 2;
      } else if (character === '$' || character === '`') word.expand(this.#expansion(false), true);
      else {
        // `{`, `{}` and `[` alone are literal, any other may expand to several words.
        const literal = /^(\{\}?|\[)([\s;]|$)/.test(this.script.slice(this.#at, this.#at + 3));
        if (GLOBS.has(character) && !literal) word.expand(character, true);
        else word.add(character);
        this.#at++;
      }
    }
    return word.build();
  }

  #singleQuoted(): string {
    const begin = this.#at + 1;
    const close = this.script.indexOf("'", begin);
    if (close === -1) this.#readable = false;
    this.#moveTo(close === -1 ? -1 : close + 1);
    return this.script.slice(begin, close === -1 ? undefined : close);
  }

  #doubleQuoted(word: WordBuilder): void {
    this.#at++;
    while (this.#at < this.script.length) {
      const character = this.#here;
      if (character === '"') {
        this.#at++;
        return;
      }
      if (character === '$' || character === '`') {
        const source = this.#expansion(true);
        // "$@" is as many words as there are arguments.
        word.expand(source, source.includes('@'));
      } else if (character === '\\' && '"\\$`\n'.includes(this.#following)) {
        if (this.#following !== '\n') word.add(this.#following);
        this.#at += 2;
      } else {
        word.add(character);
        this.#at++;
      }
    }
    this.#readable = false;
  }

  /** Returns the expansion verbatim; the commands of a substitution are added to those of the script. */
  #expansion(inQuotes: boolean): string {
    const begin = this.#at;
    const { script } = this;
    const arithmetic = script.startsWith('$((', begin) ? arithmeticAt(script, begin + 1) : 0;
    if (arithmetic > 0) this.#at += 1 + arithmetic;
    else if (script.startsWith('$(', begin)) this.#at = this.#substitution(begin + 2);
    else if (script.startsWith('${', begin)) {
      const plain = PLAIN_BRACES.exec(script.slice(begin, begin + 1_000))?.[0];
      if (plain === undefined) this.#readable = false;
      this.#at = plain === undefined ? closingAfter(script, begin + 2) + 1 : begin + plain.length;
    } else if (this.#here === '`') {
      const end = unescaped(script, begin + 1, '`');
      const inner = script.slice(begin + 1, end);
      if (end === script.length || (inQuotes && inner.includes('\\"'))) this.#readable = false;
      this.#include(inner.replace(/\\([`\\$])/g, '$1'));
      this.#at = end + 1;
    } else if (!inQuotes && script.startsWith("$'", begin)) {
      const end = unescaped(script, begin + 2, "'");
      if (end === script.length) this.#readable = false;
      this.#at = end + 1;
    } else {
      if (script.startsWith('$[', begin)) this.#readable = false;
      this.#at += /^\$(\w+|[@*#?$!-])?/.exec(script.slice(begin, begin + 200))?.[0].length ?? 1;
    }
    return script.slice(begin, this.#at);
  }

  /** Returns the position after the closing parenthesis. */
  #substitution(from: number): number {
    if (this.depth >= MAX_SUBSTITUTION_DEPTH) {
      this.#readable = false;
      return this.script.length;
    }
    const inner = new Reader(this.script, this.depth + 1).readSubstitution(from);
    this.#readable &&= inner.readable;
    this.#commands.push(...inner.commands);
    return inner.end + 1;
  }

  #include(script: string): void {
    const inner = readLeniently(script, this.depth + 1);
    this.#readable &&= inner.readable;
    this.#commands.push(...inner.commands);
  }
}

/** Finds the end of parts of a shell script. */

/** Position of the unescaped mark; the end of the text if there is none. */
function unescaped(text: string, from: number, mark: string): number {
  let at = from;
  while (at < text.length && text.charAt(at) !== mark) at += text.charAt(at) === '\\' ? 2 : 1;
  return Math.min(at, text.length);
}

/** Position of the brace that closes the one opened before `from`; quoted marks do not count. */
function closingAfter(text: string, from: number): number {
  let depth = 1;
  let at = from;
  while (at < text.length) {
    const character = text.charAt(at);
    if (character === '\\') at++;
    else if (character === "'") at = Math.max(at, text.indexOf("'", at + 1));
    else if (character === '"') at = unescaped(text, at + 1, '"');
    else if (character === '{') depth++;
    else if (character === '}' && --depth === 0) return at;
    at++;
  }
  return text.length;
}

/** Length of the `((…))` at this position; 0 if it may be a nested subshell, or contain anything but arithmetic. */
function arithmeticAt(script: string, from: number): number {
  const text = /^\(\([\w\s+*/%<>=!&|^~?:,;()#$-]*\)\)/.exec(script.slice(from, from + 1_000))?.[0] ?? '';
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '(') depth++;
    else if (character === ')') depth--;
    if (depth === 1 && at > 0 && character === ')' && text.charAt(at + 1) !== ')') return 0;
    if (depth === 0) {
      const length = at + 1;
      return /<<|\$\(/.test(text.slice(0, length)) ? 0 : length;
    }
  }
  return 0;
}
