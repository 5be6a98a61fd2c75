/**
 * What one socket is sent. While its reader keeps up, frames go straight out and this costs nothing. A reader that is
 * behind has its frames held here, pieces of one text as one frame, up to a limit; beyond it the reader is let go, and
 * reads what is missing from the log when it comes back.
 */
import { TextBuffer } from '../core/api/index.ts';
import type { Pieces } from './connection.ts';

export type Wire = {
  /** -1 where the reader is behind; the frame is on its way all the same */
  sendText(text: string): number;
  /** The reader does not come along: `dropped` is what it is not sent. Nothing more is taken. */
  disconnect(dropped: readonly (object | undefined)[]): void;
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
  readonly more: TextBuffer;
};

export class SendBuffer {
  #held: Held[] | null = null;
  /** the frame that the reader was too far behind for: it is on its way */
  #leaving: Held | null = null;
  /** what was held when the reader was let go */
  #dropped: readonly Held[] = [];
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
    if (this.#held) this.#hold(text, frame, pieces);
    else if (!this.#gone && this.wire.sendText(text) === -1) {
      this.#held = [];
      this.#leaving = heldOf(text, frame, pieces);
      this.#since = performance.now();
    }
    return !this.#gone;
  }

  /**
   * The frames that the reader was not sent. `cut`: the connection broke, so the frame that was on its way counts as
   * well. Pieces of one text are one frame.
   */
  unsent(cut: boolean): object[] {
    const leaving = cut && this.#leaving ? [this.#leaving] : [];
    return [...leaving, ...(this.#held ?? this.#dropped)].flatMap((one) => wholeOf(one) ?? []);
  }

  /** The reader has read what was sent: it is sent what was held. */
  drained(): void {
    const held = this.#held;
    if (!held) return;
    this.#held = null;
    this.#leaving = null;
    for (let index = 0; index < held.length; index++) {
      const one = held[index] as Held;
      this.#size -= sizeOf(one);
      if (this.wire.sendText(this.#encoded(one)) !== -1) continue;
      // Behind again: what is left is held as before, and the reader has been behind all the time.
      this.#held = held.slice(index + 1);
      this.#leaving = one;
      return;
    }
    this.lag.caughtUp(performance.now() - this.#since);
  }

  #hold(text: string, frame: object | undefined, pieces: Pieces | undefined): void {
    const held = this.#held ?? [];
    // Checked before the frame is added: a large frame is not the reader's fault.
    if (this.#size > this.limit) {
      this.#disconnect([...held, heldOf(text, frame, pieces)]);
      return;
    }
    const last = held.at(-1);
    const key = keyOf(frame, pieces);
    if (last && frame && pieces && key !== null && key === last.key && pieces === last.pieces) {
      const piece = pieces.text(frame);
      last.more.add(piece);
      this.#size += piece.length;
      this.lag.coalesced();
    } else {
      held.push(heldOf(text, frame, pieces));
      this.#size += text.length;
    }
  }

  #disconnect(dropped: readonly Held[]): void {
    this.#gone = true;
    this.#held = null;
    this.#dropped = dropped;
    this.lag.gaveUp();
    this.wire.disconnect(dropped.map((one) => one.frame));
  }

  #encoded(one: Held): string {
    if (one.more.length === 0) return one.text;
    const whole = wholeOf(one);
    if (!whole) return one.text;
    return this.wire.encode?.(whole) ?? JSON.stringify(whole);
  }
}

const keyOf = (frame: object | undefined, pieces: Pieces | undefined): string | null =>
  (frame && pieces?.key(frame)) ?? null;

const heldOf = (text: string, frame: object | undefined, pieces: Pieces | undefined): Held => ({
  text,
  frame,
  pieces,
  key: keyOf(frame, pieces),
  more: new TextBuffer(),
});

/** The frame with everything that was added to it. */
const wholeOf = ({ frame, pieces, more }: Held): object | undefined =>
  frame && pieces && more.length > 0 ? pieces.with(frame, pieces.text(frame) + more) : frame;

const sizeOf = ({ text, more }: Held): number => text.length + more.length;
