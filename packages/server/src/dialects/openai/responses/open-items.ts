/** Items that are being written, with the events of each kind. */
import type { RequestedCall } from '../../kit/turn-updates.ts';

import {
  functionCallItem,
  messageItem,
  type NamedCall,
  type OutputItem,
  reasoningItem,
  summaryText,
  textContent,
} from './items.ts';

export type ItemEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

/** How an item ends: complete, or incomplete because its step was restarted. */
export type Ending = 'completed' | 'incomplete';

export interface OpenItem {
  /** the item when it is added */
  readonly added: OutputItem;
  begin(): ItemEvent[];
  write(text: string): ItemEvent[];
  end(ending: Ending): { readonly item: OutputItem; readonly events: ItemEvent[] };
}

export class OpenMessage implements OpenItem {
  readonly added: OutputItem;
  #text = '';
  readonly #pieces = new TextPieces();

  constructor(private readonly id: string) {
    this.added = messageItem(id, null, 'in_progress');
  }

  begin(): ItemEvent[] {
    return [{ type: 'response.content_part.added', content_index: 0, part: textContent('') }];
  }

  write(text: string): ItemEvent[] {
    this.#text += text;
    return this.#pieces.add(text).map(this.#delta);
  }

  end(ending: Ending) {
    const events = [
      ...this.#pieces.end().map(this.#delta),
      { type: 'response.output_text.done', content_index: 0, text: this.#text, logprobs: [] },
      { type: 'response.content_part.done', content_index: 0, part: textContent(this.#text) },
    ];
    return { item: messageItem(this.id, this.#text, ending), events };
  }

  readonly #delta = (delta: string): ItemEvent => ({
    type: 'response.output_text.delta',
    content_index: 0,
    delta,
    logprobs: [],
  });
}

export class OpenReasoning implements OpenItem {
  readonly added: OutputItem;
  #text = '';
  readonly #pieces = new TextPieces();

  constructor(private readonly id: string) {
    this.added = reasoningItem(id, null);
  }

  begin(): ItemEvent[] {
    return [{ type: 'response.reasoning_summary_part.added', summary_index: 0, part: summaryText('') }];
  }

  write(text: string): ItemEvent[] {
    this.#text += text;
    return this.#pieces.add(text).map(this.#delta);
  }

  end() {
    const events = [
      ...this.#pieces.end().map(this.#delta),
      { type: 'response.reasoning_summary_text.done', summary_index: 0, text: this.#text },
      { type: 'response.reasoning_summary_part.done', summary_index: 0, part: summaryText(this.#text) },
    ];
    return { item: reasoningItem(this.id, this.#text), events };
  }

  readonly #delta = (delta: string): ItemEvent => ({
    type: 'response.reasoning_summary_text.delta',
    summary_index: 0,
    delta,
  });
}

export class OpenFunctionCall implements OpenItem {
  readonly added: OutputItem;
  #written = '';
  readonly #compact = new CompactJson();
  readonly #pieces = new TextPieces();

  constructor(private readonly call: NamedCall) {
    this.added = functionCallItem(call, '', 'in_progress');
  }

  begin(): ItemEvent[] {
    return [];
  }

  write(text: string): ItemEvent[] {
    const compact = this.#compact.add(text);
    this.#written += compact;
    return this.#pieces.add(compact).map(this.#delta);
  }

  /** The input is complete: writes the missing rest. */
  complete(input: RequestedCall['input']): ItemEvent[] {
    const whole = JSON.stringify(input);
    const rest = whole.startsWith(this.#written) ? whole.slice(this.#written.length) : '';
    this.#written += rest;
    return [...this.#pieces.add(rest), ...this.#pieces.end()].map(this.#delta);
  }

  end(ending: Ending) {
    const item = functionCallItem(this.call, this.#written, ending);
    const { name } = item;
    const done = { type: 'response.function_call_arguments.done', name, arguments: this.#written };
    return { item, events: [...this.#pieces.end().map(this.#delta), done] };
  }

  readonly #delta = (delta: string): ItemEvent => ({ type: 'response.function_call_arguments.delta', delta });
}

/**
 * Removes whitespace between JSON tokens while they are streamed, so that streamed and stored arguments are the
 * same.
 */
class CompactJson {
  #inString = false;
  #escapes = false;

  add(text: string): string {
    let compact = '';
    for (const character of text) {
      if (this.#inString || !/\s/.test(character)) compact += character;
      if (this.#escapes) this.#escapes = false;
      else if (character === '"') this.#inString = !this.#inString;
      else if (character === '\\') this.#escapes = this.#inString;
    }
    return compact;
  }
}

/**
 * Splits a text into the pieces of its delta events. The positions depend on the text alone, not on how the
 * model streams it: a stored text has the same events, with the same numbers, as when it was streamed.
 */

const MAX_LENGTH = 32;
/** Scripts from this code point on are written without spaces. */
const UNSPACED = 0x2e80;

class TextPieces {
  #rest = '';
  /** length of the rest that is known to have no end of a piece */
  #seen = 0;

  /** The pieces that are complete now. */
  add(text: string): string[] {
    this.#rest += text;
    const pieces: string[] = [];
    let from = 0;
    for (let at = this.#seen; at < this.#rest.length; at++) {
      if (!endsPiece(this.#rest, at, at - from + 1)) continue;
      pieces.push(this.#rest.slice(from, at + 1));
      from = at + 1;
    }
    this.#rest = this.#rest.slice(from);
    this.#seen = this.#rest.length;
    return pieces;
  }

  /** The last piece, unless the text ended with one. */
  end(): string[] {
    const last = this.#rest;
    this.#rest = '';
    this.#seen = 0;
    return last === '' ? [] : [last];
  }
}

function endsPiece(text: string, at: number, length: number): boolean {
  const code = text.charCodeAt(at);
  const isHalf = code >= 0xd800 && code < 0xdc00;
  if (isHalf) return false;
  return code <= 0x20 || code >= UNSPACED || length >= MAX_LENGTH;
}
