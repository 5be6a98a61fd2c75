/** Keeps the frames of one conversation while none of its sockets is there to read them. */
import type { ConnectionId } from '@parlance/protocol';
import { TextBuffer } from '../../core/api/index.ts';
import type { Pieces } from '../../http/connection.ts';
import type { Member } from '../shared/subscription-hub.ts';
import type { Body } from './bodies.ts';

type Kept = { readonly body: Body; readonly key: string | null; readonly more: TextBuffer };

/** Room for the largest answer, as chunks and as a whole. A fuller mailbox is given up: the history has the answer. */
const MOST_CHARACTERS = 16_000_000;

export class Mailbox implements Member {
  open = true;
  readonly #kept: Kept[] = [];
  #size = 0;

  constructor(
    readonly id: ConnectionId,
    private readonly pieces: Pieces<Body>,
    private readonly onFull: () => void,
  ) {}

  send(body: object): void {
    this.sendText(JSON.stringify(body), body);
  }

  /** Pieces of one message are kept as one frame. */
  sendText(text: string, frame?: object): void {
    if (!this.open || !frame) return;
    if (this.#size > MOST_CHARACTERS) {
      this.onFull();
      return;
    }
    const body = frame as Body;
    const key = this.pieces.key(body);
    const last = this.#kept.at(-1);
    if (last && key !== null && last.key === key) {
      const piece = this.pieces.text(body);
      last.more.add(piece);
      this.#size += piece.length;
    } else {
      this.#kept.push({ body, key, more: new TextBuffer() });
      this.#size += text.length;
    }
  }

  /** Nothing more is kept. */
  close(): void {
    this.open = false;
  }

  /** What was kept, in order. */
  get bodies(): Body[] {
    return this.#kept.map(({ body, more }) =>
      more.length === 0 ? body : this.pieces.with(body, this.pieces.text(body) + more),
    );
  }
}
