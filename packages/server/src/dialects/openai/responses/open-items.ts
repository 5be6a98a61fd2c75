/** Items that are being written, with the events of each kind. */
import type { RequestedCall } from '../../shared/exchange/pieces.ts';
import { CompactJson } from './compact-json.ts';
import {
  functionCallItem,
  messageItem,
  type NamedCall,
  type OutputItem,
  reasoningItem,
  summaryText,
  textContent,
} from './items.ts';
import { TextPieces } from './text-pieces.ts';

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
