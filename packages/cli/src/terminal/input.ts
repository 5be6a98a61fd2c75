/** Reads the keyboard of a terminal in raw mode, and reports terminal events. */
import { StringDecoder } from 'node:string_decoder';
import { type Key, KeyReader } from './keys.ts';

const BRACKETED_PASTE = { on: '\x1b[?2004h', off: '\x1b[?2004l' };
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
    stdout.write(BRACKETED_PASTE.on);
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
    for (const key of this.#reader.read(text)) this.events.key(key);
    if (this.#reader.isWaiting) this.#timer = setTimeout(this.#flush, ESCAPE_MS);
  };

  readonly #flush = (): void => {
    for (const key of this.#reader.flush()) this.events.key(key);
  };
}
