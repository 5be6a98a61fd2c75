/**
 * The events of a streamed message: blocks that start, grow and stop, made from the additions to the answer.
 */
import type { Pieces } from '../../http/connection.ts';
import type { Addition, Answer } from '../shared/exchange/answer.ts';
import { toolUseId } from './call-ids.ts';
import {
  countedUsage,
  type Head,
  STOP_REASONS,
  signatureOf,
  startedMessage,
  usageObject,
} from './message-objects.ts';

export type MessageEvent =
  | { readonly type: string; readonly [field: string]: unknown }
  /** a piece of text: the most frequent event */
  | { readonly type: 'text'; readonly index: number; readonly text: string };

const encoded = (event: { readonly type: string }): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

export function encode(event: MessageEvent): string {
  if (!isText(event)) return encoded(event);
  // A token costs one escape and one concatenation.
  const delta = `{"type":"text_delta","text":${JSON.stringify(event.text)}}`;
  return `event: content_block_delta\ndata: {"type":"content_block_delta","index":${event.index},"delta":${delta}}\n\n`;
}

const isText = (event: MessageEvent): event is Extract<MessageEvent, { type: 'text' }> =>
  event.type === 'text';

/** Merges pieces of text for a slow reader. */
export const pieces: Pieces<MessageEvent> = {
  key: (event) => (isText(event) ? `text ${event.index}` : null),
  text: (event) => (isText(event) ? event.text : ''),
  with: (event, text) => (isText(event) ? { ...event, text } : event),
};

export const PING = encoded({ type: 'ping' });

type Block = { readonly kind: 'text' | 'reasoning' | 'call'; readonly index: number; text: string };

export class MessageEvents {
  #blocks = 0;
  /** the open block of text or thinking */
  #open: Block | null = null;
  /** calls whose arguments may be incomplete, by their index among the calls */
  readonly #calls = new Map<number, Block>();

  constructor(private readonly head: Head) {}

  start(): MessageEvent {
    return { type: 'message_start', message: startedMessage(this.head) };
  }

  add(addition: Addition): MessageEvent[] {
    switch (addition.kind) {
      case 'text': {
        const [block, events] = this.#continued('text');
        return [...events, { type: 'text', index: block.index, text: addition.text }];
      }
      case 'reasoning': {
        if (!this.head.showsThinking) return [];
        const [block, events] = this.#continued('reasoning');
        block.text += addition.text;
        return [...events, delta(block, { type: 'thinking_delta', thinking: addition.text })];
      }
      case 'call': {
        const events = [...this.#close(), ...this.#closeCalls(isComplete)];
        const block = this.#begin('call');
        this.#calls.set(addition.index, block);
        const content = { type: 'tool_use', id: toolUseId(addition.call), name: addition.tool, input: {} };
        return [...events, started(block, content)];
      }
      case 'arguments': {
        const block = this.#calls.get(addition.index);
        if (!block) return [];
        block.text += addition.text;
        return [delta(block, { type: 'input_json_delta', partial_json: addition.text })];
      }
    }
  }

  end(answer: Answer): MessageEvent[] {
    const usage = usageObject(countedUsage(answer, this.head));
    const ended = { stop_reason: STOP_REASONS[answer.finish], stop_sequence: null };
    return [
      ...this.#close(),
      ...this.#closeCalls(() => true),
      { type: 'message_delta', delta: ended, usage },
      { type: 'message_stop' },
    ];
  }

  /** The open block of that kind, or a new one with the events that start it. */
  #continued(kind: 'text' | 'reasoning'): [Block, MessageEvent[]] {
    if (this.#open?.kind === kind) return [this.#open, []];
    const closed = this.#close();
    const block = this.#begin(kind);
    this.#open = block;
    const content =
      kind === 'text' ? { type: 'text', text: '' } : { type: 'thinking', thinking: '', signature: '' };
    return [block, [...closed, started(block, content)]];
  }

  #begin(kind: Block['kind']): Block {
    return { kind, index: this.#blocks++, text: '' };
  }

  #close(): MessageEvent[] {
    const block = this.#open;
    this.#open = null;
    if (!block) return [];
    const signature = signatureOf(block.text);
    return block.kind === 'reasoning'
      ? [delta(block, { type: 'signature_delta', signature }), stopped(block)]
      : [stopped(block)];
  }

  #closeCalls(closes: (block: Block) => boolean): MessageEvent[] {
    const closing = [...this.#calls].filter(([, block]) => closes(block));
    for (const [index] of closing) this.#calls.delete(index);
    return closing.map(([, block]) => stopped(block));
  }
}

const started = ({ index }: Block, content_block: object): MessageEvent => ({
  type: 'content_block_start',
  index,
  content_block,
});
const delta = ({ index }: Block, change: object): MessageEvent => ({
  type: 'content_block_delta',
  index,
  delta: change,
});
const stopped = ({ index }: Block): MessageEvent => ({ type: 'content_block_stop', index });

/** Without any arguments they may still follow. */
function isComplete({ text }: Block): boolean {
  try {
    return text !== '' && JSON.parse(text) !== undefined;
  } catch {
    return false;
  }
}
