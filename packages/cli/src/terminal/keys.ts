/** Keys from terminal input: parsed, and read from a keyboard. */
import { StringDecoder } from 'node:string_decoder';

export type Key =
  | { readonly kind: 'text'; readonly text: string }
  /** pasted text, unchanged */
  | { readonly kind: 'paste'; readonly text: string }
  /** `name` includes its modifiers: `ctrl-c`, `alt-enter`, `shift-tab` */
  | { readonly kind: 'key'; readonly name: string };

/** What a terminal tells about itself, without the escape sequences around it. */
type Answer = { readonly kind: 'answer'; readonly text: string };

const PASTE_START = '\x1b[200~';
const PASTE_END = '\x1b[201~';
/** Larger pastes are cut, so that a missing end sequence cannot fill the memory. */
const MAX_PASTE_LENGTH = 4 * 1024 * 1024;

const BY_LETTER: Readonly<Record<string, string>> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  F: 'end',
  H: 'home',
  Z: 'shift-tab',
};
const BY_NUMBER: Readonly<Record<string, string>> = {
  1: 'home',
  3: 'delete',
  4: 'end',
  5: 'page-up',
  6: 'page-down',
  7: 'home',
  8: 'end',
};
const BY_CODE: Readonly<Record<number, string>> = {
  8: 'backspace',
  9: 'tab',
  13: 'enter',
  27: 'escape',
  127: 'backspace',
};
const ESCAPE = '\u001b';
const CSI = new RegExp(`^${ESCAPE}\\[([\\d;:]*)([A-Za-z~])`);
const UNFINISHED = new RegExp(`^${ESCAPE}(?:[[O][\\d;:]*|\\](?:\\d{1,3}(?:;[ -~]{0,200}${ESCAPE}?)?)?)?$`);
/** Ends with BEL or `ESC \\`. */
const OSC = new RegExp(`^${ESCAPE}\\](\\d{1,3};[ -~]{0,200}?)(?:\\u0007|${ESCAPE}\\\\)`);

/** Modifiers of xterm and of the kitty protocol: one more than the sum of shift 1, alt 2, control 4. */
function modified(name: string, modifiers: string | undefined): string {
  const bits = Math.max(0, Number.parseInt(modifiers ?? '1', 10) - 1) || 0;
  return `${bits & 4 ? 'ctrl-' : ''}${bits & 2 ? 'alt-' : ''}${bits & 1 ? 'shift-' : ''}${name}`;
}

function csiKey(parameters: string, final: string): Key | null {
  const [first = '', second] = parameters.split(';');
  if (final === 'u' || (final === '~' && first === '27')) {
    const code = Number.parseInt(final === 'u' ? first : (parameters.split(';')[2] ?? ''), 10);
    const name = BY_CODE[code] ?? (code >= 32 && code < 0x11_0000 ? String.fromCodePoint(code) : null);
    if (name === null) return null;
    const full = modified(name, second);
    return full === name && name.length === 1 ? { kind: 'text', text: name } : { kind: 'key', name: full };
  }
  const name = final === '~' ? BY_NUMBER[first] : BY_LETTER[final];
  return name === undefined ? null : { kind: 'key', name: modified(name, second) };
}

function controlKey(character: string): Key | null {
  const code = character.charCodeAt(0);
  const name = BY_CODE[code];
  if (character === '\n') return { kind: 'key', name: 'ctrl-j' };
  if (name !== undefined) return { kind: 'key', name };
  if (code === 0) return { kind: 'key', name: 'ctrl-space' };
  return code <= 26 ? { kind: 'key', name: `ctrl-${String.fromCharCode(code + 96)}` } : null;
}

/** Also the beginning of an answer of the terminal. */
const ALT_BRACKET = '\x1b]';

/** Without control characters. */
const TEXT = /^\P{Cc}+/u;

/** Parses chunks of input; joins sequences split between chunks. */
export class KeyReader {
  #pending = '';
  #pasted: string | null = null;

  read(chunk: string): (Key | Answer)[] {
    this.#pending += chunk;
    const keys: (Key | Answer)[] = [];
    for (;;) {
      const key = this.#pasted === null ? this.#next() : this.#paste();
      if (key === undefined) return keys;
      if (key !== null) keys.push(key);
    }
  }

  /** If true and nothing follows shortly, call `flush`: a lone escape is the key. */
  get isWaiting(): boolean {
    return this.#pending === '\x1b' || this.#pending === ALT_BRACKET;
  }

  flush(): Key[] {
    if (!this.isWaiting) return [];
    const name = this.#pending === ALT_BRACKET ? 'alt-]' : 'escape';
    this.#pending = '';
    return [{ kind: 'key', name }];
  }

  /** Undefined: more input is needed. Null: an unknown key. */
  #next(): Key | Answer | null | undefined {
    const text = this.#pending;
    if (text === '') return undefined;
    if (text.startsWith(PASTE_START)) {
      this.#pending = text.slice(PASTE_START.length);
      this.#pasted = '';
      return null;
    }
    const [plain] = TEXT.exec(text) ?? [];
    if (plain !== undefined) return this.#take(plain.length, { kind: 'text', text: plain });
    if (!text.startsWith('\x1b')) return this.#take(1, controlKey(text.charAt(0)));
    if (UNFINISHED.test(text)) return undefined;
    const [whole, parameters = '', final = ''] = CSI.exec(text) ?? [];
    if (whole !== undefined) return this.#take(whole.length, csiKey(parameters, final));
    const [answer, said] = OSC.exec(text) ?? [];
    if (answer !== undefined && said !== undefined)
      return this.#take(answer.length, { kind: 'answer', text: said });
    if (text[1] === 'O') {
      const name = BY_LETTER[text.charAt(2)];
      return this.#take(3, name === undefined ? null : { kind: 'key', name });
    }
    if (text[1] === '[') return this.#take(2, null);
    if (text[1] === '\x1b') return this.#take(1, { kind: 'key', name: 'escape' });
    const inner = controlKey(text.charAt(1));
    const name = inner?.kind === 'key' ? inner.name : text.charAt(1);
    return this.#take(2, { kind: 'key', name: `alt-${name}` });
  }

  #take<Read extends Key | Answer>(length: number, key: Read | null): Read | null {
    this.#pending = this.#pending.slice(length);
    return key;
  }

  #paste(): Key | undefined {
    const end = this.#pending.indexOf(PASTE_END);
    const held = end >= 0 ? end : Math.max(0, this.#pending.length - PASTE_END.length);
    this.#pasted = ((this.#pasted ?? '') + this.#pending.slice(0, held)).slice(0, MAX_PASTE_LENGTH);
    this.#pending = this.#pending.slice(end >= 0 ? end + PASTE_END.length : held);
    if (end < 0) return undefined;
    const text = this.#pasted.replace(/\r\n?/g, '\n');
    this.#pasted = null;
    return { kind: 'paste', text };
  }
}

// Reads the keyboard of a terminal in raw mode, and reports terminal events.

const BRACKETED_PASTE = { on: '\x1b[?2004h', off: '\x1b[?2004l' };
/** The console of Linux shows what it does not know. */
export const answersQuestions = ({ TERM, NO_COLOR } = process.env): boolean => TERM !== 'linux' && !NO_COLOR;

/** Asks for the colour of the background. */
const ASK_BACKGROUND = '\x1b]11;?\x1b\\';
const SHOW_CURSOR = '\x1b[?25h';
/**
 * A lone escape counts as a key if nothing follows for this long. On slow connections, sequences arrive in
 * pieces.
 */
const ESCAPE_MS = 50;

/** A signal that has not stopped us by then was ignored. */
const IGNORED_MS = 250;

const ENDING = ['SIGTERM', 'SIGHUP', 'SIGINT'] as const;

export type KeyboardEvents = {
  key(key: Key): void;
  /** The terminal answered what it was asked when it was opened: the colour of its background. */
  answered(text: string): void;
  /** The size changed, or the process is in the foreground again: redraw everything. */
  changed(): void;
  /** The terminal is gone, or a signal arrived; `code` is the exit code. */
  ended(code: number): void;
};

export class Keyboard {
  readonly #reader = new KeyReader();
  readonly #decoder = new StringDecoder('utf8');
  #timer: Timer | null = null;

  constructor(private readonly events: KeyboardEvents) {}

  open(): void {
    const { stdin, stdout } = process;
    stdin.setRawMode(true);
    stdin.on('data', this.#data).on('end', this.#gone).on('error', this.#gone);
    stdin.resume();
    stdout.on('resize', this.#changed).on('error', this.#gone);
    for (const signal of ENDING) process.on(signal, this.#signalled);
    process.on('exit', this.#exited);
    stdout.write(BRACKETED_PASTE.on + (answersQuestions() ? ASK_BACKGROUND : ''));
  }

  /** Restores the terminal. */
  close(): void {
    const { stdin, stdout } = process;
    stdin.off('data', this.#data).off('end', this.#gone);
    if (stdin.isTTY) stdin.setRawMode(false);
    stdin.pause();
    stdout.off('resize', this.#changed);
    process.off('exit', this.#exited);
    for (const signal of ENDING) process.off(signal, this.#signalled);
    stdout.write(BRACKETED_PASTE.off + SHOW_CURSOR);
  }

  /**
   * Stops the process group until the shell brings it back: programs that have started us, such as npx, stop too. Without a
   * shell that could bring it back, the system ignores the signal.
   */
  suspend(): void {
    this.close();
    const resume = (): void => {
      clearTimeout(ignored);
      process.off('SIGCONT', resume);
      this.open();
      this.events.changed();
    };
    process.on('SIGCONT', resume);
    const ignored = setTimeout(resume, IGNORED_MS);
    process.kill(0, 'SIGTSTP');
  }

  /** Restores the terminal even if the program fails. */
  readonly #exited = (): void => this.close();
  readonly #gone = (): void => this.events.ended(0);
  readonly #signalled = (): void => this.events.ended(130);
  readonly #changed = (): void => this.events.changed();

  readonly #data = (bytes: Buffer | string): void => {
    if (this.#timer) clearTimeout(this.#timer);
    const text = typeof bytes === 'string' ? bytes : this.#decoder.write(bytes);
    for (const key of this.#reader.read(text))
      if (key.kind === 'answer') this.events.answered(key.text);
      else this.events.key(key);
    if (this.#reader.isWaiting) this.#timer = setTimeout(this.#flush, ESCAPE_MS);
  };

  readonly #flush = (): void => {
    for (const key of this.#reader.flush()) this.events.key(key);
  };
}
