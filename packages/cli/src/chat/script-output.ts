/** Standard output in script mode: the streamed text of the answer, or one event per line. */
import type { SessionEvent } from '@parlance/protocol';
import { LineOutput } from '../stdio/line-output.ts';
import { safeText } from '../terminal/safe-text.ts';

export class ScriptOutput {
  readonly #lines = new LineOutput(process.stdout);
  readonly #isTerminal = process.stdout.isTTY === true;
  #block: string | null = null;
  /** whether the last line is unfinished */
  #isOpen = false;

  constructor(
    private readonly json: boolean,
    /** called when the reader of stdout is gone */
    onGone: () => void,
  ) {
    void this.#lines.closed.then(onGone);
  }

  /** `turn` is the turn of the message; text of other turns is left out. */
  event(event: SessionEvent, turn: string | null): void {
    if (this.json) this.#lines.write(JSON.stringify(event));
    else if (event.type === 'text.delta' && event.turn === turn) this.#delta(event.block, event.text);
  }

  #delta(block: string, text: string): void {
    if (this.#block !== null && this.#block !== block) this.#text('\n\n');
    this.#block = block;
    this.#text(text);
  }

  /** On a terminal, starts a new line before output on stderr. */
  pause(): void {
    if (this.#isTerminal && this.#isOpen) this.#text('\n');
  }

  /** Resolves when everything has been written, or the reader is gone. */
  async end(): Promise<void> {
    if (this.#isOpen) this.#text('\n');
    await this.#lines.flushed();
  }

  #text(text: string): void {
    // Pipes receive the text unchanged; a terminal must not interpret it.
    this.#lines.writeText(this.#isTerminal ? safeText(text) : text);
    this.#isOpen = !text.endsWith('\n');
  }
}
