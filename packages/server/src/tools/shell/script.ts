/**
 * Reads shell scripts: as a sequence of simple commands, if a script is nothing else, for what runs without approval; and as
 * all commands that it contains, for rules that deny. The second may find too many, and says if it may have missed one.
 */

export type Word = {
  /** without quotes; expansions are verbatim */
  readonly text: string;
  /** the prefix that no expansion can change; all of `text` if there is no expansion */
  readonly known: string;
  /** the shell may split it into several words, or none */
  readonly splits: boolean;
  /** contains an unquoted * ? or [ */
  readonly glob: boolean;
  /** the text as a pattern: quoted special characters have a backslash */
  readonly pattern: string;
  /** the shell would insert a home folder */
  readonly tilde: boolean;
};

const OPERATORS = ['&&', '||', '|', ';'] as const;
export type Operator = (typeof OPERATORS)[number];

/** A simple command, and the operator before it; the first has `;`. */
export type Step = {
  readonly operator: Operator;
  readonly words: readonly Word[];
  /** to nothing or to the other output, in a form that every shell reads alike */
  readonly redirections: readonly string[];
};

export type Script = {
  /** all commands, those of substitutions included */
  readonly commands: readonly (readonly Word[])[];
  /** whether every command was found */
  readonly readable: boolean;
  /**
   * The script if it is only words, quotes, the operators && || | ; newlines and redirections to nothing. Null with any other
   * redirection, substitution, expansion of variables and braces, grouping, background, negation or comment: what cannot be
   * parsed with certainty needs approval.
   */
  readonly steps: readonly Step[] | null;
};

export const plainWord = (text: string): Word => ({
  text,
  known: text,
  splits: false,
  glob: false,
  pattern: escaped(text),
  tilde: false,
});

const escaped = (text: string): string => text.replace(/[*?[\]\\]/g, '\\$&');

export const isOpen = (word: Word): boolean => word.known !== word.text;

/** The script of `bash -lc <script>` and similar. */
export function scriptOf(argv: readonly string[]): string | null {
  const [program = '', option, script] = argv;
  if (argv.length !== 3 || script === undefined || !/^(ba)?sh$/.test(program)) return null;
  return option === '-c' || option === '-lc' ? script : null;
}

/** The simple commands that `argv` runs: itself, or those of the script for a shell. Null: unknown. */
export function commandsOf(argv: readonly string[]): (readonly Word[])[] | null {
  const script = scriptOf(argv);
  if (script === null) return [argv.map(plainWord)];
  return readScript(script).steps?.map(({ words }) => words) ?? null;
}

const MAX_SCRIPT_LENGTH = 100_000;
const MAX_SUBSTITUTION_DEPTH = 16;

export function readScript(script: string, depth = 0): Script {
  if (script.length > MAX_SCRIPT_LENGTH || depth > MAX_SUBSTITUTION_DEPTH)
    return { commands: [], readable: false, steps: null };
  return new Reader(script, depth).read();
}

type HereDocument = {
  readonly delimiter: string;
  readonly quoted: boolean;
  readonly stripsTabs: boolean;
  /** where its operator ends */
  readonly after: number;
};

const ENDS_COMMAND = new Set(';&|()\n\r');
const ENDS_WORD = new Set(' \t;&|()<>\n\r');
const GLOBS = new Set('*?[');
/** Unquoted, each of these makes a script more than a sequence of commands. */
const REFUSED = /[{}!#\p{Cc}]/u;
/** Expansions that only insert the value of a variable; `!` and `@` operators can run the value. */
const PLAIN_BRACES = /^\$\{#?(\w+|[@*#?$-])(\[[\w@*]+\])?([:#%/^,=+?-][^'"\\`{}()]*)?\}/;
const PLAIN_REGEX = /^[ \t]+[^\s()#'"<>|&;`\\]+[ \t]+\]\]/;
const REDIRECTIONS = ['&>>', '&>', '<<<', '<<-', '<<', '<>', '<&', '>>', '>&', '>|', '<', '>'];
/** To and from /dev/null, and to the other output. */
const PLAIN_REDIRECTION =
  /(?:(?<both>&>>?)[ \t]*\/dev\/null|(?<one>[12]?>)>?[ \t]*\/dev\/null|(?<copy>[12]?>&[12])|<[ \t]*\/dev\/null)(?=$|[ \t\n;|]|&&)/y;

class WordBuilder {
  text = '';
  pattern = '';
  glob = false;
  #known: string | null = null;
  #splits = false;
  #tilde = false;

  quoted(text: string): void {
    this.text += text;
    this.pattern += escaped(text);
  }

  plain(character: string, expands: boolean): void {
    this.glob ||= GLOBS.has(character);
    this.#tilde ||= character === '~' && /^$|[=:]$/.test(this.text);
    this.pattern += character;
    if (expands) this.expand(character, true);
    else this.text += character;
  }

  expand(source: string, splits: boolean): void {
    this.#known ??= this.text;
    this.text += source;
    this.#splits ||= splits;
  }

  build(): Word {
    const { text, glob, pattern } = this;
    const word = { text, known: this.#known ?? text, splits: this.#splits, tilde: this.#tilde };
    // The program `[`: a lone bracket is no pattern.
    return pattern === '[' ? { ...word, glob: false, pattern: '\\[' } : { ...word, glob, pattern };
  }
}

class Reader {
  #at = 0;
  #readable = true;
  #words: Word[] = [];
  /** where other commands begin for `sh`, to which the bash operator &> is a command in the background */
  #background: number[] = [];
  #documents: HereDocument[] = [];
  readonly #commands: (readonly Word[])[] = [];
  /** null once the script is more than a sequence of commands */
  #steps: Step[] | null = [];
  #operator: Operator = ';';
  #redirections: string[] = [];

  constructor(
    private readonly script: string,
    private readonly depth: number,
  ) {}

  read(): Script {
    // Shells differ in their treatment of a carriage return.
    if (this.script.includes('\r')) this.#readable = false;
    while (this.#at < this.script.length) this.#next(this.#here);
    return this.#end();
  }

  /** Parses the commands from `from` to the closing parenthesis. */
  readSubstitution(from: number): Script & { readonly end: number } {
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

  #end(): Script {
    if (this.#documents.length > 0) this.#readable = false;
    // A script may end with a semicolon or a newline, but not with another operator.
    const complete = this.#endCommand(';') || (this.#redirections.length === 0 && this.#operator === ';');
    const steps = complete && this.#steps?.length ? this.#steps : null;
    return { commands: this.#commands, readable: this.#readable, steps };
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
    else if (character === '#') {
      this.#steps = null;
      this.#moveTo(this.script.indexOf('\n', this.#at));
    } else if (this.#plainRedirection()) return;
    else if (this.#isSubstitution) this.#argument();
    else if (/[<>]/.test(character) || this.script.startsWith('&>', this.#at)) this.#redirection();
    else if (ENDS_COMMAND.has(character)) this.#separator(character);
    else this.#argument();
  }

  #separator(character: string): void {
    if (character === '\n') {
      // Empty lines mean nothing, also after an operator.
      if (!this.#endCommand(';') && this.#redirections.length > 0) this.#steps = null;
      this.#at++;
      this.#skipDocuments();
      return;
    }
    const operator = OPERATORS.find((one) => this.script.startsWith(one, this.#at));
    if (!this.#endCommand(operator ?? ';') || !operator) this.#steps = null;
    if (this.script.startsWith('((', this.#at) && arithmeticAt(this.script, this.#at) === 0)
      this.#readable = false;
    this.#at += operator?.length ?? 1;
  }

  #argument(): void {
    const begin = this.#at;
    const word = this.#word();
    const raw = this.script.slice(begin, this.#at);
    // The number in `2>file` belongs to the redirection.
    const descriptor = /^\d+$/.test(raw) && /[<>]/.test(this.#here);
    if (!descriptor) this.#words.push(word);
    // To some shells, only one digit is a descriptor.
    else if (raw.length > 1) this.#readable = false;
    // What follows `&>file` is another command to `sh`.
    if (this.#background.length > 0) this.#steps = null;
    // Other redirections than `plainRedirection`, and redirections without a space before them.
    if (/[<>()\r]/.test(this.#here) || (this.#here === '&' && this.#following !== '&')) this.#steps = null;
    const subscript = /^\w+\[[^\]]*$/.test(raw);
    const extendedGlob = this.#here === '(' && /[?*+@!]$/.test(raw);
    const regex = raw === '=~' && !PLAIN_REGEX.test(this.script.slice(this.#at, this.#at + 1_000));
    if (subscript || extendedGlob || regex) this.#readable = false;
  }

  /** False if there is no command to end. */
  #endCommand(next: Operator): boolean {
    const [words, redirections, background] = [this.#words, this.#redirections, this.#background];
    if (words.length === 0) return false;
    this.#commands.push(words);
    for (const [at, start] of background.entries())
      this.#commands.push(
        words.slice(background[at - 1] ?? 0, start),
        words.slice(start, background[at + 1]),
      );
    this.#steps?.push({ operator: this.#operator, words, redirections });
    [this.#words, this.#redirections, this.#background, this.#operator] = [[], [], [], next];
    return true;
  }

  /** To the end of the script if there is none. */
  #moveTo(place: number): void {
    this.#at = place === -1 ? this.script.length : place;
  }

  #plainRedirection(): boolean {
    PLAIN_REDIRECTION.lastIndex = this.#at;
    const groups = PLAIN_REDIRECTION.exec(this.script)?.groups;
    if (!groups) return false;
    const { both, one, copy } = groups;
    if (both) this.#background.push(this.#words.length);
    this.#redirections.push(both ? '>/dev/null 2>&1' : (copy ?? `${one ?? '<'}/dev/null`));
    this.#at = PLAIN_REDIRECTION.lastIndex;
    return true;
  }

  /** The target is a file. A here-document is text; a shell that reads one has no script, which is open anyway. */
  #redirection(): void {
    this.#steps = null;
    const operator = REDIRECTIONS.find((one) => this.script.startsWith(one, this.#at)) ?? '<';
    if (operator.startsWith('&')) this.#background.push(this.#words.length);
    this.#at += operator.length;
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

  /** `<(commands)` is a word, or a part of one. */
  get #isSubstitution(): boolean {
    return /[<>]/.test(this.#here) && this.#following === '(';
  }

  #word(): Word {
    const word = new WordBuilder();
    while (this.#at < this.script.length && (!ENDS_WORD.has(this.#here) || this.#isSubstitution)) {
      const character = this.#here;
      if (character === "'") word.quoted(this.#singleQuoted());
      else if (character === '"') this.#doubleQuoted(word);
      else if (character === '\\') {
        const next = this.#following;
        if (next !== '\n') {
          if (next === '' || /\p{Cc}/u.test(next)) this.#steps = null;
          word.text += next;
          word.pattern += `\\${next}`;
        }
        this.#at += 2;
      } else if (this.#isSubstitution) {
        const begin = this.#at;
        this.#at = this.#substitution(begin + 2);
        word.expand(this.script.slice(begin, this.#at), false);
      } else if (character === '$' || character === '`') word.expand(this.#expansion(false), true);
      else {
        if (REFUSED.test(character)) this.#steps = null;
        // `{`, `{}` and `[` alone are literal, any other may expand to several words.
        const literal = /^(\{\}?|\[)([\s;]|$)/.test(this.script.slice(this.#at, this.#at + 3));
        word.plain(character, (GLOBS.has(character) || character === '{') && !literal);
        this.#at++;
      }
    }
    return word.build();
  }

  #singleQuoted(): string {
    const begin = this.#at + 1;
    const close = this.script.indexOf("'", begin);
    if (close === -1) this.#unclosed();
    this.#moveTo(close === -1 ? -1 : close + 1);
    return this.script.slice(begin, close === -1 ? undefined : close);
  }

  #unclosed(): void {
    this.#readable = false;
    this.#steps = null;
  }

  #doubleQuoted(word: WordBuilder): void {
    this.#at++;
    while (this.#at < this.script.length) {
      const character = this.#here;
      if (character === '"') {
        this.#at++;
        return;
      }
      if (character === '!') this.#steps = null;
      if (character === '$' || character === '`') {
        const source = this.#expansion(true);
        // "$@" is as many words as there are arguments.
        word.expand(source, source.includes('@'));
      } else if (character === '\\' && '"\\$`\n'.includes(this.#following) && this.#following !== '') {
        if (this.#following !== '\n') word.quoted(this.#following);
        this.#at += 2;
      } else {
        word.quoted(character);
        this.#at++;
      }
    }
    this.#unclosed();
  }

  /** Returns the expansion verbatim; the commands of a substitution are added to those of the script. */
  #expansion(inQuotes: boolean): string {
    this.#steps = null;
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
    this.#steps = null;
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
    const inner = readScript(script, this.depth + 1);
    this.#readable &&= inner.readable;
    this.#commands.push(...inner.commands);
  }
}

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
