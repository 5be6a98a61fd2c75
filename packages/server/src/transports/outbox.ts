/**
 * What one socket is sent. While its reader keeps up, frames go straight out and this costs nothing. A reader that is
 * behind has its frames held here, joined with their like where the dialect allows it, up to a limit; beyond it the
 * socket is let go, and whoever comes back reads what is missing from the log.
 */
import type { Join } from '../core/ports/connection.ts';

export type Wire = {
  /** -1 where the reader is behind; the frame is on its way all the same */
  sendText(text: string): number;
  /** The reader does not come along: `dropped` is what it is not sent. Nothing more is taken. */
  letGo(dropped: readonly (object | undefined)[]): void;
  /** what joined frames become; as JSON where it is absent */
  encode?(body: object): string;
};

/** Told what becomes of readers that are behind. */
export type Lag = {
  coalesced(): void;
  /** the reader has caught up after so many milliseconds */
  caughtUp(ms: number): void;
  letGo(): void;
};

type Held = { text: string | null; body: object | undefined; readonly join: Join | undefined; size: number };

export class Outbox {
  #held: Held[] | null = null;
  #size = 0;
  #since = 0;
  #gone = false;

  constructor(
    private readonly wire: Wire,
    private readonly lag: Lag,
    /** how many characters may be held */
    private readonly limit: number,
  ) {}

  get behind(): boolean {
    return this.#held !== null;
  }

  /**
   * On the path of a token. `text` is `body` encoded; without `join` frames are held one by one. False where the
   * reader has been let go.
   */
  send(text: string, body?: object, join?: Join): boolean {
    if (this.#held) this.#hold(this.#held, text, body, join);
    else if (!this.#gone && this.wire.sendText(text) === -1) {
      this.#held = [];
      this.#since = performance.now();
    }
    return !this.#gone;
  }

  /** The reader has read what was sent: it is sent what was held. */
  drained(): void {
    const held = this.#held;
    if (!held || this.#gone) return;
    this.#held = null;
    this.#size = 0;
    const since = this.#since;
    for (let index = 0; index < held.length; index++) {
      if (this.wire.sendText(this.#encoded(held[index] as Held)) !== -1) continue;
      // Behind again: what is left is held as before, and the reader has been behind all the time.
      this.#held = held.slice(index + 1);
      this.#size = this.#held.reduce((sum, { size }) => sum + size, 0);
      this.#since = since;
      return;
    }
    this.lag.caughtUp(performance.now() - since);
  }

  #hold(held: Held[], text: string, body: object | undefined, join: Join | undefined): void {
    const last = held.at(-1);
    const joined = last?.body && body && join && join === last.join ? join(last.body, body) : null;
    if (last && joined) {
      last.body = joined;
      last.text = null;
      last.size += text.length;
      this.lag.coalesced();
    } else held.push({ text, body, join, size: text.length });
    this.#size += text.length;
    if (this.#size <= this.limit) return;
    this.#measure(held);
    // One large frame is not the reader's fault.
    if (this.#size > this.limit && held.length > 1) this.#letGo(held);
  }

  /** Joined frames are smaller than the sum of what they were joined from: only their encoding tells how much. */
  #measure(held: readonly Held[]): void {
    for (const one of held) one.size = this.#encoded(one).length;
    this.#size = held.reduce((sum, { size }) => sum + size, 0);
  }

  #letGo(held: readonly Held[]): void {
    this.#gone = true;
    this.#held = null;
    this.#size = 0;
    this.lag.letGo();
    this.wire.letGo(held.map(({ body }) => body));
  }

  #encoded(held: Held): string {
    held.text ??= this.wire.encode?.(held.body as object) ?? JSON.stringify(held.body);
    return held.text;
  }
}
