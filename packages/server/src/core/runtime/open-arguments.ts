import type { CallId, DurableEvent, EphemeralEventBody, TurnId } from '@parlance/protocol';
import { TextBuffer } from './text-buffer.ts';

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
