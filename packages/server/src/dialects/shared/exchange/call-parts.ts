/**
 * Calls of the caller's tools. Their arguments arrive in pieces while the model writes them, or whole at the
 * end.
 */
import type { CallId } from '@parlance/protocol';
import type { Piece, RequestedCall } from './pieces.ts';
import { changed } from './repeated-text.ts';

export type CallPart =
  | { readonly kind: 'call'; readonly index: number; readonly call: CallId; readonly tool: string }
  | { readonly kind: 'arguments'; readonly index: number; readonly text: string };

type Shown = { readonly call: CallId; readonly index: number; text: string };

export class CallAnswers {
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
