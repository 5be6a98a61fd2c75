/**
 * What one socket is sent. While its reader keeps up, frames go straight out and this costs nothing. A reader that is
 * behind has its frames held here, pieces of one text as one frame, up to a limit; beyond it the reader is let go, and
 * reads what is missing from the log when it comes back.
 */
import { GrowingText } from '../core/growing-text.ts';
import type { Pieces } from '../core/ports/connection.ts';

export type Wire = {
  /** -1 where the reader is behind; the frame is on its way all the same */
  sendText(text: string): number;
  /** The reader does not come along: `dropped` is what it is not sent. Nothing more is taken. */
  letGo(dropped: readonly (object | undefined)[]): void;
  /** what a frame made of pieces becomes; as JSON where it is absent */
  encode?(frame: object): string;
};

/** Told what becomes of readers that are behind. */
export type Lag = {
  coalesced(): void;
  /** the reader has caught up after so many milliseconds */
  caughtUp(ms: number): void;
  gaveUp(): void;
};

type Held = {
  /** the frame encoded, as long as nothing was added to it */
  readonly text: string;
  readonly frame: object | undefined;
  readonly pieces: Pieces | undefined;
  readonly key: string | null;
  /** what follows the frame's own text */
  readonly more: GrowingText;
};

export class Outbox {
  #held: Held[] | null = null;
  #size = 0;
  #since = 0;
  #gone = false;

  constructor(
    private readonly wire: Wire,
    private readonly lag: Lag,
    /** how many characters may be held before the next frame is too much */
    private readonly limit: number,
  ) {}

  get behind(): boolean {
    return this.#held !== null;
  }

  /**
   * On the path of a token. `text` is `frame` encoded; without `pieces` frames are held one by one. False where the
   * reader has been let go.
   */
  send(text: string, frame?: object, pieces?: Pieces): boolean {
    if (this.#held) this.#hold(this.#held, text, frame, pieces);
    else if (!this.#gone && this.wire.sendText(text) === -1) {
      this.#held = [];
      this.#since = performance.now();
    }
    return !this.#gone;
  }

  /** The reader has read what was sent: it is sent what was held. */
  drained(): void {
    const held = this.#held;
    if (!held) return;
    this.#held = null;
    for (let index = 0; index < held.length; index++) {
      const one = held[index] as Held;
      this.#size -= sizeOf(one);
      if (this.wire.sendText(this.#encoded(one)) !== -1) continue;
      // Behind again: what is left is held as before, and the reader has been behind all the time.
      this.#held = held.slice(index + 1);
      return;
    }
    this.lag.caughtUp(performance.now() - this.#since);
  }

  #hold(held: Held[], text: string, frame: object | undefined, pieces: Pieces | undefined): void {
    // Looked at before the frame is added: that it is large is not the reader's fault.
    if (this.#size > this.limit) {
      this.#letGo([...held.map((one) => one.frame), frame]);
      return;
    }
    const last = held.at(-1);
    const key = (frame && pieces?.key(frame)) ?? null;
    if (last && frame && pieces && key !== null && key === last.key && pieces === last.pieces) {
      const piece = pieces.text(frame);
      last.more.add(piece);
      this.#size += piece.length;
      this.lag.coalesced();
    } else {
      held.push({ text, frame, pieces, key, more: new GrowingText() });
      this.#size += text.length;
    }
  }

  #letGo(dropped: readonly (object | undefined)[]): void {
    this.#gone = true;
    this.#held = null;
    this.lag.gaveUp();
    this.wire.letGo(dropped);
  }

  #encoded({ text, frame, pieces, more }: Held): string {
    if (more.length === 0 || !frame || !pieces) return text;
    const whole = pieces.with(frame, pieces.text(frame) + more);
    return this.wire.encode?.(whole) ?? JSON.stringify(whole);
  }
}

const sizeOf = ({ text, more }: Held): number => text.length + more.length;
