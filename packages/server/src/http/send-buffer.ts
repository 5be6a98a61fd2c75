/**
 * The send buffer of one socket. While the reader keeps up, frames are sent directly at no cost. For a slow
 * reader, frames are buffered up to a limit, and pieces of one text are joined. Beyond the limit, the reader
 * is disconnected and reads the rest from the log after it reconnects.
 */
import { TextBuffer } from '../core/api/index.ts';
import type { Pieces } from './connection.ts';

export type Wire = {
  /** -1 if the reader is behind; the frame is sent anyway */
  sendText(text: string): number;
  /** The reader is too slow and does not receive the `dropped` frames. No more frames are accepted. */
  disconnect(dropped: readonly (object | undefined)[]): void;
  /** encodes a joined frame; JSON if absent */
  encode?(frame: object): string;
};

/** Observes slow readers. */
export type Lag = {
  coalesced(): void;
  /** the reader has caught up after this many milliseconds */
  caughtUp(ms: number): void;
  gaveUp(): void;
};

type Held = {
  /** the encoded frame, as long as nothing was appended to it */
  readonly text: string;
  readonly frame: object | undefined;
  readonly pieces: Pieces | undefined;
  readonly key: string | null;
  /** text appended to the frame's own text */
  readonly more: TextBuffer;
};

export class SendBuffer {
  #held: Held[] | null = null;
  /** the frame in flight when the reader fell behind */
  #leaving: Held | null = null;
  /** frames buffered when the reader was disconnected */
  #dropped: readonly Held[] = [];
  #size = 0;
  #since = 0;
  #gone = false;

  constructor(
    private readonly wire: Wire,
    private readonly lag: Lag,
    /** maximum number of buffered characters before the next frame exceeds the limit */
    private readonly limit: number,
  ) {}

  get behind(): boolean {
    return this.#held !== null;
  }

  /**
   * On the token path. `text` is the encoded `frame`; without `pieces`, frames are not joined. False if the
   * reader has been disconnected.
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
   * Frames that the reader did not receive. `cut`: the connection broke, so the frame in flight is included.
   * Pieces of one text are joined.
   */
  unsent(cut: boolean): object[] {
    const leaving = cut && this.#leaving ? [this.#leaving] : [];
    return [...leaving, ...(this.#held ?? this.#dropped)].flatMap((one) => wholeOf(one) ?? []);
  }

  /** The reader has caught up with the socket: sends the buffered frames. */
  drained(): void {
    const held = this.#held;
    if (!held) return;
    this.#held = null;
    this.#leaving = null;
    for (let index = 0; index < held.length; index++) {
      const one = held[index] as Held;
      this.#size -= sizeOf(one);
      if (this.wire.sendText(this.#encoded(one)) !== -1) continue;
      // Behind again: buffer the rest. For metrics, the reader was behind all the time.
      this.#held = held.slice(index + 1);
      this.#leaving = one;
      return;
    }
    this.lag.caughtUp(performance.now() - this.#since);
  }

  #hold(text: string, frame: object | undefined, pieces: Pieces | undefined): void {
    const held = this.#held ?? [];
    // Checked before the frame is added, since a large frame is not the reader's fault.
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

/** The frame with all text appended to it. */
const wholeOf = ({ frame, pieces, more }: Held): object | undefined =>
  frame && pieces && more.length > 0 ? pieces.with(frame, pieces.text(frame) + more) : frame;

const sizeOf = ({ text, more }: Held): number => text.length + more.length;
