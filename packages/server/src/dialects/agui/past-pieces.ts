/** Pieces of past events, without discarded output, which need not be shown. */
import type { SessionEvent } from '@parlance/protocol';
import type { Frame } from '../kit/projection.ts';
import type { Piece } from './projection.ts';

export type PastPiece = { readonly piece: Piece; readonly seq: number };

export class PastPieces {
  readonly #pieces: PastPiece[] = [];
  #settled = 0;

  get pieces(): readonly PastPiece[] {
    return this.#pieces;
  }

  add(event: SessionEvent, frames: readonly Frame<Piece>[]): void {
    if (!('seq' in event)) return;
    for (const { body } of frames) {
      if (body.kind === 'void') this.#pieces.length = this.#settled;
      else this.#pieces.push({ piece: body, seq: event.seq });
    }
    if (isSettled(event)) this.#settled = this.#pieces.length;
  }
}

/** Output can still be discarded until its answer is complete, unless the turn was interrupted. */
export const isSettled = (event: SessionEvent): boolean =>
  (event.type !== 'text.ended' && event.type !== 'reasoning.ended') || event.interrupted === true;
