/**
 * Finds the commands in a shell script, whatever else is in it. For rules that forbid: it may find too much, and what it
 * cannot read is marked as open. `script.ts` decides what is known to be safe and refuses more.
 */

export type LooseWord = {
  /** without quotes; an expansion stands as it was written */
  readonly text: string;
  /** the beginning that no expansion can change; all of `text` if there is no expansion */
  readonly known: string;
  /** the shell may make several words of it, or none */
  readonly splits: boolean;
};

export type LooseScript = {
  readonly commands: readonly (readonly LooseWord[])[];
  /** every command was found */
  readonly readable: boolean;
};

export const fixedWord = (text: string): LooseWord => ({ text, known: text, splits: false });

export const isOpen = (word: LooseWord): boolean => word.known !== word.text;

const LONGEST_SCRIPT = 65_536;
const DEEPEST_SUBSTITUTION = 16;

export function readLeniently(script: string, depth = 0): LooseScript {
  if (script.length > LONGEST_SCRIPT || depth > DEEPEST_SUBSTITUTION)
    return { commands: [], readable: false };
  return new Reader(script, depth).read();
}

const BETWEEN_COMMANDS = new Set(';&|()\n\r');
const ENDS_WORD = new Set(' \t;&|()<>\n\r');
const GLOBS = new Set('*?[{');
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

  build(): LooseWord {
    return { text: this.#text, known: this.#known ?? this.#text, splits: this.#splits };
  }
}

class Reader {
  #at = 0;
  #readable = true;
  #words: LooseWord[] = [];
  readonly #commands: (readonly LooseWord[])[] = [];

  constructor(
    private readonly script: string,
    private readonly depth: number,
  ) {}

  read(): LooseScript {
    while (this.#at < this.script.length) this.#next(this.#here);
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
      this.#at++;
    } else if (character === '<' || character === '>') this.#redirection();
    else this.#argument();
  }

  #argument(): void {
    const begin = this.#at;
    const word = this.#word();
    // The number in `2>file` belongs to the redirection.
    const descriptor = /^\d+$/.test(this.script.slice(begin, this.#at)) && /[<>]/.test(this.#here);
    if (!descriptor) this.#words.push(word);
  }

  #endCommand(): void {
    if (this.#words.length > 0) this.#commands.push(this.#words);
    this.#words = [];
  }

  /** To the end of the script if there is no such place. */
  #moveTo(place: number): void {
    this.#at = place === -1 ? this.script.length : place;
  }

  /** The target is a file. A here-document is text; a shell that reads one has no script, which is open anyway. */
  #redirection(): void {
    const operator = REDIRECTIONS.find((one) => this.script.startsWith(one, this.#at)) ?? '<';
    this.#at += operator.length;
    if (this.#here === '(') return; // <(commands)
    while (this.#here === ' ' || this.#here === '\t') this.#at++;
    const quoted = this.#here === "'" || this.#here === '"' || this.#here === '\\';
    const { text } = this.#word();
    if (operator === '<<' || operator === '<<-') this.#document(text, quoted);
  }

  #document(delimiter: string, quoted: boolean): void {
    const begin = this.script.indexOf('\n', this.#at);
    const end = begin === -1 ? -1 : this.script.indexOf(`\n${delimiter}`, begin);
    if (end === -1) {
      this.#readable = false;
      this.#moveTo(-1);
      return;
    }
    // The rest of the operator's own line is script.
    this.#include(this.script.slice(this.#at, begin));
    if (!quoted && /\$\(|`/.test(this.script.slice(begin, end))) this.#readable = false;
    this.#endCommand();
    this.#at = end + 1 + delimiter.length;
  }

  #word(): LooseWord {
    const word = new WordBuilder();
    while (this.#at < this.script.length && !ENDS_WORD.has(this.#here)) {
      const character = this.#here;
      if (character === "'") word.add(this.#singleQuoted());
      else if (character === '"') this.#doubleQuoted(word);
      else if (character === '\\') {
        if (this.#following !== '\n') word.add(this.#following);
        this.#at += 2;
      } else if (character === '$' || character === '`') word.expand(this.#expansion(), true);
      else {
        // A brace of its own groups commands, any other may expand to several words.
        const grouping = character === '{' && /^[ \t\n]?$/.test(this.#following);
        if (GLOBS.has(character) && !grouping) word.expand(character, true);
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
        const source = this.#expansion();
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

  /** Returns the expansion as it is written; the commands of a substitution are added to those of the script. */
  #expansion(): string {
    const begin = this.#at;
    const { script } = this;
    const arithmetic = /^\$\(\([^$`]*?\)\)/.exec(script.slice(begin, begin + 1_000))?.[0];
    if (arithmetic !== undefined) this.#at += arithmetic.length;
    else if (script.startsWith('$(', begin)) {
      const end = closingAfter(script, begin + 2, '(', ')');
      this.#include(script.slice(begin + 2, end));
      this.#at = end + 1;
    } else if (script.startsWith('${', begin)) {
      const end = closingAfter(script, begin + 2, '{', '}');
      if (/\$\(|`/.test(script.slice(begin, end))) this.#readable = false;
      this.#at = end + 1;
    } else if (this.#here === '`') {
      const end = unescaped(script, begin + 1, '`');
      this.#include(script.slice(begin + 1, end).replace(/\\([`\\$])/g, '$1'));
      this.#at = end + 1;
    } else if (script.startsWith("$'", begin)) this.#at = unescaped(script, begin + 2, "'") + 1;
    else this.#at += /^\$(\w+|.)?/s.exec(script.slice(begin, begin + 200))?.[0].length ?? 1;
    return script.slice(begin, this.#at);
  }

  #include(script: string): void {
    const inner = readLeniently(script, this.depth + 1);
    this.#readable &&= inner.readable;
    this.#commands.push(...inner.commands);
  }
}

/** The place of the mark that is not behind a backslash; the end of the text if there is none. */
function unescaped(text: string, from: number, mark: string): number {
  let at = from;
  while (at < text.length && text.charAt(at) !== mark) at += text.charAt(at) === '\\' ? 2 : 1;
  return Math.min(at, text.length);
}

/** Where the bracket is closed that was opened before `from`; marks in quotes do not count. */
function closingAfter(text: string, from: number, opening: string, closing: string): number {
  let depth = 1;
  let at = from;
  while (at < text.length) {
    const character = text.charAt(at);
    if (character === '\\') at++;
    else if (character === "'") at = Math.max(at, text.indexOf("'", at + 1));
    else if (character === '"') at = unescaped(text, at + 1, '"');
    else if (character === opening) depth++;
    else if (character === closing && --depth === 0) return at;
    at++;
  }
  return text.length;
}
