/** Buffers the frames of one conversation between a closed socket and its successor. */
import type { ConnectionId } from '@parlance/protocol';
import { TextBuffer } from '../../core/api/index.ts';
import type { Pieces, Subscriber } from '../../http/connection.ts';
import type { Body } from './bodies.ts';

type BufferedFrame = { readonly body: Body; readonly key: string | null; readonly more: TextBuffer };

/**
 * Room for the largest answer, as chunks and as a whole. A full mailbox is dropped: the history has the answer.
 */
const MAX_CHARACTERS = 16_000_000;

export class Mailbox implements Subscriber {
  readonly hidden = true;
  open = true;
  readonly #frames: BufferedFrame[] = [];
  #size = 0;

  constructor(
    readonly id: ConnectionId,
    private readonly pieces: Pieces<Body>,
    private readonly onFull: () => void,
  ) {}

  /** Buffers the pieces of one message as one frame. */
  send(text: string, frame?: object): void {
    if (!this.open || !frame) return;
    if (this.#size > MAX_CHARACTERS) {
      this.onFull();
      return;
    }
    const body = frame as Body;
    const key = this.pieces.key(body);
    const last = this.#frames.at(-1);
    if (last && key !== null && last.key === key) {
      const piece = this.pieces.text(body);
      last.more.add(piece);
      this.#size += piece.length;
    } else {
      this.#frames.push({ body, key, more: new TextBuffer() });
      this.#size += text.length;
    }
  }

  close(): void {
    this.open = false;
  }

  /** The buffered frames, in order. */
  get bodies(): Body[] {
    return this.#frames.map(({ body, more }) =>
      more.length === 0 ? body : this.pieces.with(body, this.pieces.text(body) + more),
    );
  }
}
