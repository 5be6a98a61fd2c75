/**
 * The send buffer of one socket. While the reader keeps up, frames are sent directly at no cost. For a slow
 * reader, frames are buffered up to a limit, and pieces of one text are joined. Beyond the limit, the reader
 * is disconnected and reads the rest from the log after it reconnects.
 */
import { TextBuffer } from '../core/index.ts';
import type { Pieces } from './connection.ts';

export type FrameWriter = {
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

type BufferedFrame = {
  /** the encoded frame, as long as nothing was appended to it */
  readonly text: string;
  readonly frame: object | undefined;
  readonly pieces: Pieces | undefined;
  readonly key: string | null;
  /** text appended to the frame's own text */
  readonly more: TextBuffer;
};

export class SendBuffer {
  #buffered: BufferedFrame[] | null = null;
  /** the frame in flight when the reader fell behind, without its encoded text, which the socket has */
  #inFlight: BufferedFrame | null = null;
  /** frames buffered when the reader was disconnected */
  #dropped: readonly BufferedFrame[] = [];
  #size = 0;
  #since = 0;
  #disconnected = false;

  constructor(
    private readonly writer: FrameWriter,
    private readonly lag: Lag,
    /** maximum number of buffered characters before the next frame exceeds the limit */
    private readonly limit: number,
  ) {}

  get behind(): boolean {
    return this.#buffered !== null;
  }

  /**
   * On the token path. `text` is the encoded `frame`; without `pieces`, frames are not joined. False if the
   * reader has been disconnected.
   */
  send(text: string, frame?: object, pieces?: Pieces): boolean {
    if (this.#buffered) this.#buffer(text, frame, pieces);
    else if (!this.#disconnected && this.writer.sendText(text) === -1) {
      this.#buffered = [];
      this.#inFlight = bufferedFrame('', frame, pieces);
      this.#since = performance.now();
    }
    return !this.#disconnected;
  }

  /**
   * Frames that the reader did not receive. `cut`: the connection broke, so the frame in flight is included.
   * Pieces of one text are joined.
   */
  unsent(cut: boolean): object[] {
    const inFlight = cut && this.#inFlight ? [this.#inFlight] : [];
    return [...inFlight, ...(this.#buffered ?? this.#dropped)].flatMap((one) => wholeOf(one) ?? []);
  }

  /** The reader has caught up with the socket: sends the buffered frames. */
  drained(): void {
    const buffered = this.#buffered;
    if (!buffered) return;
    this.#buffered = null;
    this.#inFlight = null;
    for (let index = 0; index < buffered.length; index++) {
      const one = buffered[index] as BufferedFrame;
      this.#size -= sizeOf(one);
      if (this.writer.sendText(this.#encoded(one)) !== -1) continue;
      // Behind again: buffer the rest. For metrics, the reader was behind all the time.
      this.#buffered = buffered.slice(index + 1);
      this.#inFlight = { ...one, text: '' };
      return;
    }
    this.lag.caughtUp(performance.now() - this.#since);
  }

  #buffer(text: string, frame: object | undefined, pieces: Pieces | undefined): void {
    const buffered = this.#buffered ?? [];
    // Checked before the frame is added, since a large frame is not the reader's fault.
    if (this.#size > this.limit) {
      this.#disconnect([...buffered, bufferedFrame(text, frame, pieces)]);
      return;
    }
    const last = buffered.at(-1);
    const key = keyOf(frame, pieces);
    if (last && frame && pieces && key !== null && key === last.key && pieces === last.pieces) {
      const piece = pieces.text(frame);
      last.more.add(piece);
      this.#size += piece.length;
      this.lag.coalesced();
    } else {
      buffered.push(bufferedFrame(text, frame, pieces));
      this.#size += text.length;
    }
  }

  #disconnect(dropped: readonly BufferedFrame[]): void {
    this.#disconnected = true;
    this.#buffered = null;
    this.#dropped = dropped;
    this.lag.gaveUp();
    this.writer.disconnect(dropped.map((one) => one.frame));
  }

  #encoded(one: BufferedFrame): string {
    if (one.more.length === 0) return one.text;
    const whole = wholeOf(one);
    if (!whole) return one.text;
    return this.writer.encode?.(whole) ?? JSON.stringify(whole);
  }
}

const keyOf = (frame: object | undefined, pieces: Pieces | undefined): string | null =>
  (frame && pieces?.key(frame)) ?? null;

const bufferedFrame = (
  text: string,
  frame: object | undefined,
  pieces: Pieces | undefined,
): BufferedFrame => ({
  text,
  frame,
  pieces,
  key: keyOf(frame, pieces),
  more: new TextBuffer(),
});

/** The frame with all text appended to it. */
const wholeOf = ({ frame, pieces, more }: BufferedFrame): object | undefined =>
  frame && pieces && more.length > 0 ? pieces.with(frame, pieces.text(frame) + more) : frame;

const sizeOf = ({ text, more }: BufferedFrame): number => text.length + more.length;
