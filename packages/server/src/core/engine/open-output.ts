import type {
  BlockId,
  CallId,
  DurableEvent,
  DurableEventBody,
  EphemeralEvent,
  EphemeralEventBody,
  TurnId,
} from '@parlance/protocol';
import type { StreamedBlock } from '../session/turn-events.ts';
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
export function streamedSoFar(open: OpenBlock | null, now: () => number): StreamedBlock | null {
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

export type ArgumentsDelta = EphemeralEventBody<'call.arguments.delta'>;

/** The arguments of a call as far as the model has written them. */
export type PartialArguments = {
  readonly turn: TurnId;
  readonly call: CallId;
  readonly tool: string;
  readonly text: string;
};

/** Calls that the model is still writing. They are discarded unless their step ends with them. */
export class OpenArguments {
  readonly #calls = new Map<
    CallId,
    Omit<PartialArguments, 'call' | 'text'> & { readonly text: TextBuffer }
  >();

  /** Ignores the delta if an earlier one is missing, which can happen if another node calls the model. */
  add({ turn, call, tool, offset, text }: ArgumentsDelta): void {
    if (offset === 0) this.#calls.set(call, { turn, tool, text: new TextBuffer() });
    const open = this.#calls.get(call);
    if (open?.text.length === offset) open.text.add(text);
  }

  /** number of characters received so far */
  length(call: CallId): number {
    return this.#calls.get(call)?.text.length ?? 0;
  }

  apply(event: DurableEvent): void {
    if (this.#calls.size > 0 && endsArguments(event)) this.#calls.clear();
  }

  clear(): void {
    this.#calls.clear();
  }

  list(): PartialArguments[] {
    return [...this.#calls].map(([call, { turn, tool, text }]) => ({ turn, call, tool, text: String(text) }));
  }
}

/** Whether the event stores or voids the arguments streamed before it. */
export const endsArguments = ({ type }: DurableEvent): boolean => ENDS.has(type);

const ENDS: ReadonlySet<DurableEvent['type']> = new Set([
  'step.ended',
  'step.restarted',
  'turn.resumed',
  'turn.ended',
  'turn.failed',
  'turn.cancelled',
]);
