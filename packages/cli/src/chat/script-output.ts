/** Standard output of a script: the text of the answer as it is streamed, or one event per line. */
import type { SessionEvent } from '@parlance/protocol';
import { LineOutput } from '../stdio/line-output.ts';
import { safeText } from '../terminal/safe-text.ts';

export class ScriptOutput {
  readonly #lines = new LineOutput(process.stdout);
  readonly #isTerminal = process.stdout.isTTY === true;
  #block: string | null = null;
  /** ends the last line, if there is one */
  #isOpen = false;

  constructor(
    private readonly json: boolean,
    /** nobody reads any more */
    onGone: () => void,
  ) {
    void this.#lines.gone.then(onGone);
  }

  /** `turn` is the one of the message; text of other turns is left out. */
  event(event: SessionEvent, turn: string | null): void {
    if (this.json) this.#lines.write(JSON.stringify(event));
    else if (event.type === 'text.delta' && event.turn === turn) this.#delta(event.block, event.text);
  }

  #delta(block: string, text: string): void {
    if (this.#block !== null && this.#block !== block) this.#text('\n\n');
    this.#block = block;
    this.#text(text);
  }

  /** At a terminal, what follows on standard error begins on a line of its own. */
  pause(): void {
    if (this.#isTerminal && this.#isOpen) this.#text('\n');
  }

  /** Resolves when everything has been written, or nobody reads. */
  async end(): Promise<void> {
    if (this.#isOpen) this.#text('\n');
    await this.#lines.flushed();
  }

  #text(text: string): void {
    // A pipe gets the text as it is; a terminal must not obey it.
    this.#lines.writeText(this.#isTerminal ? safeText(text) : text);
    this.#isOpen = !text.endsWith('\n');
  }
}
