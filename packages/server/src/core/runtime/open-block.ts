import type { BlockId, DurableEvent, DurableEventBody, EphemeralEvent, TurnId } from '@parlance/protocol';
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

export type Delta = EphemeralEvent<'text.delta' | 'reasoning.delta'>;

/** A block that another node streams. */
export const followedBlock = ({ type, turn, block, at }: Delta): OpenBlock => ({
  kind: type === 'text.delta' ? 'text' : 'reasoning',
  turn,
  block,
  startedAt: at,
  text: new TextBuffer(),
});

/** The text of the ended block that readers have not received yet, as one delta; null if none is missing. */
export function missingDelta(event: DurableEvent, open: OpenBlock | null, id: string): Delta | null {
  if (event.type !== 'text.ended' && event.type !== 'reasoning.ended') return null;
  const { turn, block, session, at } = event;
  const text = event.text.slice(open?.block === block ? open.text.length : 0);
  if (text === '') return null;
  const type = event.type === 'text.ended' ? 'text.delta' : 'reasoning.delta';
  return { type, turn, block, text, session, id, at };
}

/** The event that ends the block with its current text; empty if no block is open. */
export function blockEnd(open: OpenBlock | null, now: () => number): DurableEventBody[] {
  if (!open) return [];
  const { turn, block } = open;
  const text = String(open.text);
  if (open.kind === 'text') return [{ type: 'text.ended', turn, block, text }];
  return [{ type: 'reasoning.ended', turn, block, text, durationMs: now() - open.startedAt }];
}

/** The block with the text streamed so far. */
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
