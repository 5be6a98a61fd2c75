import type { BlockId, DurableEvent, DurableEventBody, TurnId } from '@parlance/protocol';
import type { DecisionContext } from '../domain/decision.ts';
import { TextBuffer } from './text-buffer.ts';

/** A block of text or reasoning that is being streamed. */
export type OpenBlock = {
  readonly kind: 'text' | 'reasoning';
  readonly turn: TurnId;
  readonly block: BlockId;
  readonly startedAt: number;
  readonly text: TextBuffer;
};

type Deps = { readonly now: () => number; readonly newId: () => string };

export const openBlock = (kind: OpenBlock['kind'], turn: TurnId, deps: Deps): OpenBlock => ({
  kind,
  turn,
  block: deps.newId() as BlockId,
  startedAt: deps.now(),
  text: new TextBuffer(),
});

/** The event that ends the block as it is; none if no block is open. */
export function blockEnd(open: OpenBlock | null, now: () => number): DurableEventBody[] {
  if (!open) return [];
  const { turn, block } = open;
  const text = String(open.text);
  if (open.kind === 'text') return [{ type: 'text.ended', turn, block, text }];
  return [{ type: 'reasoning.ended', turn, block, text, durationMs: now() - open.startedAt }];
}

/** The block as far as it was streamed. */
export function streamedSoFar(open: OpenBlock | null, now: () => number): DecisionContext['open'] {
  if (!open) return null;
  const { kind, block } = open;
  return { kind, block, text: String(open.text), durationMs: now() - open.startedAt };
}

export function closesBlock(event: DurableEvent, open: OpenBlock | null): boolean {
  if (!open) return false;
  switch (event.type) {
    case 'text.ended':
    case 'reasoning.ended':
      return event.block === open.block;
    case 'step.restarted':
    case 'turn.resumed':
    case 'turn.ended':
    case 'turn.failed':
    case 'turn.cancelled':
      return event.turn === open.turn;
    default:
      return false;
  }
}
