/** The answer to a request, collected from the pieces of a turn. */
import { type CallId, Fault, type HistoryItem, type Usage } from '@parlance/protocol';

import type { Piece, RequestedCall } from './pieces.ts';

/** Why an answer ends. */
export type Finish = 'done' | 'length' | 'refused' | 'calls';

/** The part of a piece that has not been sent yet. */
export type Addition = { readonly kind: 'text' | 'reasoning'; readonly text: string } | CallPart;

const NOTHING: readonly Addition[] = [];
const BETWEEN_BLOCKS = '\n\n';

export class Answer {
  readonly usage: Required<Usage> = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0 };
  readonly #text = new RepeatedText();
  readonly #calls: CallAnswers;
  #finish: Finish = 'done';
  #block: string | null = null;
  /** reasoning of the completed steps, and of the current one */
  #reasoning = '';
  #thought = '';
  #skipsReasoning = false;

  /**
   * `shows`: each addition is sent at once and cannot be retracted. `isCallers`: distinguishes the caller's
   * tools from those that other clients execute.
   */
  constructor(
    private readonly shows: boolean,
    isCallers: (tool: string) => boolean,
  ) {
    this.#calls = new CallAnswers(shows, isCallers);
  }

  get text(): string {
    return this.#text.value;
  }

  get reasoning(): string {
    const between = this.#reasoning === '' || this.#thought === '' ? '' : BETWEEN_BLOCKS;
    return this.#reasoning + between + this.#thought;
  }

  /** the calls that the caller must execute */
  get calls(): readonly RequestedCall[] {
    return this.#calls.requested;
  }

  /** the answer as history items, as a client sends it back */
  get items(): HistoryItem[] {
    const text: HistoryItem[] = this.text === '' ? [] : [{ type: 'text', text: this.text }];
    return [...text, ...this.calls.map((asked) => ({ type: 'call' as const, ...asked }))];
  }

  get finish(): Finish {
    return this.calls.length > 0 ? 'calls' : this.#finish;
  }

  /** Throws a `Fault` if the model restarted and its output differs from what was already sent. */
  add(piece: Piece): readonly Addition[] {
    switch (piece.kind) {
      case 'text':
        return this.#append(piece.block, piece.text);
      case 'reasoning':
        if (this.#skipsReasoning || piece.text === '') return NOTHING;
        this.#thought += piece.text;
        return [{ kind: 'reasoning', text: piece.text }];
      case 'arguments':
        return this.#calls.write(piece);
      case 'restarted':
        return this.#restart();
      case 'step':
        return this.#endStep(piece);
      case 'waits':
        return this.#calls.ask(piece.calls);
      case 'ended':
        this.#calls.end();
        return NOTHING;
      default:
        return NOTHING;
    }
  }

  #append(block: string, text: string): readonly Addition[] {
    if (text === '') return NOTHING;
    const isNext = this.#block !== block && !this.#text.isEmpty;
    this.#block = block;
    const fresh = this.#text.append(isNext ? BETWEEN_BLOCKS + text : text);
    return fresh === '' ? NOTHING : [{ kind: 'text', text: fresh }];
  }

  #restart(): readonly Addition[] {
    this.#text.restart(this.shows);
    this.#calls.restart();
    this.#block = null;
    if (this.shows) this.#skipsReasoning ||= this.#thought !== '';
    else this.#thought = '';
    return NOTHING;
  }

  #endStep({ usage, stop }: Extract<Piece, { kind: 'step' }>): readonly Addition[] {
    this.#text.settle();
    this.#block = null;
    this.#reasoning = this.reasoning;
    this.#thought = '';
    this.#skipsReasoning = false;
    this.usage.inputTokens += usage.inputTokens;
    this.usage.outputTokens += usage.outputTokens;
    this.usage.cachedTokens += usage.cachedTokens ?? 0;
    this.usage.reasoningTokens += usage.reasoningTokens ?? 0;
    this.#finish = stop === 'calls' ? 'done' : stop;
    return NOTHING;
  }
}

// Calls of the caller's tools. Their arguments arrive in pieces while the model writes them, or whole at the
// end.

type CallPart =
  | { readonly kind: 'call'; readonly index: number; readonly call: CallId; readonly tool: string }
  | { readonly kind: 'arguments'; readonly index: number; readonly text: string };

type Shown = { readonly call: CallId; readonly index: number; text: string };

class CallAnswers {
  requested: readonly RequestedCall[] = [];
  readonly #shown: Shown[] = [];

  constructor(
    private readonly shows: boolean,
    private readonly isCallers: (tool: string) => boolean,
  ) {}

  write({ call, tool, offset, text }: Extract<Piece, { kind: 'arguments' }>): CallPart[] {
    if (!this.shows || !this.isCallers(tool)) return [];
    const known = this.#shown.find((shown) => shown.call === call);
    if (!known) return offset === 0 ? this.#begin(call, tool, text) : [];
    return known.text.length === offset ? this.#append(known, text) : [];
  }

  /** Throws if the calls differ from what was already sent. */
  ask(calls: readonly RequestedCall[]): CallPart[] {
    this.requested = calls.filter(({ tool }) => this.isCallers(tool));
    if (!this.shows || this.requested.length === 0) return [];
    if (this.#shown.some(({ call }) => !this.requested.some((requested) => requested.call === call)))
      throw changed();
    return this.requested.flatMap(({ call, tool, input }) => {
      const whole = JSON.stringify(input);
      const known = this.#shown.find((shown) => shown.call === call);
      if (!known) return this.#begin(call, tool, whole);
      if (isJson(known.text)) return [];
      if (!whole.startsWith(known.text)) throw changed();
      return this.#append(known, whole.slice(known.text.length));
    });
  }

  /** Throws if calls were sent but the model ended without them. */
  end(): void {
    if (this.#shown.length > 0) throw changed();
  }

  /** Throws if calls were sent: they cannot be retracted. */
  restart(): void {
    this.end();
  }

  #begin(call: CallId, tool: string, text: string): CallPart[] {
    const shown = { call, index: this.#shown.length, text: '' };
    this.#shown.push(shown);
    return [{ kind: 'call', index: shown.index, call, tool }, ...this.#append(shown, text)];
  }

  #append(shown: Shown, text: string): CallPart[] {
    shown.text += text;
    return text === '' ? [] : [{ kind: 'arguments', index: shown.index, text }];
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

// A text that the model may repeat after a restart: compares the repetition with what was already sent.

const changed = (): Fault =>
  new Fault('provider_unavailable', 'The answer was interrupted, and the model started a different one.');

class RepeatedText {
  value = '';
  /** length of the text that the model has produced since the last restart */
  #position = 0;
  /** length of the text of completed steps, which is not repeated */
  #settled = 0;

  get isEmpty(): boolean {
    return this.#position === 0;
  }

  /** Returns the new part. Throws if the text differs from what was produced before the restart. */
  append(text: string): string {
    const left = this.value.length - this.#position;
    const repeated = left === 0 ? '' : text.slice(0, left);
    if (repeated !== '' && this.value.slice(this.#position, this.#position + repeated.length) !== repeated)
      throw changed();
    const fresh = repeated === '' ? text : text.slice(repeated.length);
    this.value += fresh;
    this.#position += text.length;
    return fresh;
  }

  /** `keep`: the text has been sent already. */
  restart(keep: boolean): void {
    if (!keep) this.value = this.value.slice(0, this.#settled);
    this.#position = this.#settled;
  }

  /** Throws if the repetition is shorter than the text before the restart. */
  settle(): void {
    if (this.#position < this.value.length) throw changed();
    this.#settled = this.#position;
  }
}
