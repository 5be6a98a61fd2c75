/** The messages of a thread, made from its log by the same projection that streams it. */
import { type DurableEvent, type HistoryItem, type Part, textPart } from '@parlance/protocol';
import type { Engine, SessionRef } from '../../core/api/index.ts';
import { contentOf, resultOf } from './content.ts';
import type { Message } from './events.ts';

import { MessageList } from './message-list.ts';
import { isSettled } from './past-pieces.ts';
import { IDLE, projection, type State } from './projection.ts';

export class Transcript {
  state: State = IDLE;
  readonly #list = new MessageList();
  /** messages before this index stay if the model's answer is interrupted */
  #settled = 0;
  /** inputs without a turn yet */
  readonly #waiting = new Map<string, Message>();
  /** where the messages of each input start; `seq` is the event that accepted it */
  readonly #inputs: { readonly id: string; readonly seq: number; at: number }[] = [];

  /** Oldest first. Queued messages are last. */
  get messages(): readonly Message[] {
    return [...this.#list.all, ...this.#waiting.values()];
  }

  add(event: DurableEvent): void {
    this.#place(event);
    const [state, pieces] = projection.step(this.state, event);
    this.state = state;
    for (const { body } of pieces) {
      if (body.kind === 'event') this.#list.add(body.event);
      else if (body.kind === 'void') this.#list.cut(this.#settled);
    }
    if (isSettled(event)) this.#settled = this.#list.length;
  }

  #place(event: DurableEvent): void {
    switch (event.type) {
      case 'input.accepted': {
        const { input, seq } = event;
        const message = userMessage(event);
        if (message) this.#waiting.set(input, message);
        this.#inputs.push({ id: input, seq, at: Number.POSITIVE_INFINITY });
        return;
      }
      case 'input.cancelled':
        this.#waiting.delete(event.input);
        return;
      case 'turn.started': {
        const message = this.#waiting.get(event.input);
        const input = this.#inputs.find(({ id }) => id === event.input);
        this.#waiting.delete(event.input);
        if (input) input.at = this.#list.length;
        if (message) this.#list.push(message);
        return;
      }
      case 'history.imported':
        this.#inputs.push({ id: event.input ?? '', seq: event.seq, at: this.#list.length });
        this.#list.push(...importedMessages(event));
        return;
      case 'session.cleared':
        this.#list.cut(0);
        return;
      case 'session.rewound': {
        for (const { seq, at } of this.#inputs) if (seq >= event.from) this.#list.cut(at);
      }
    }
  }
}

/** Null if the input has no message: it lets the model continue. */
function userMessage({ input, key, parts, call }: DurableEvent<'input.accepted'>): Message | null {
  if (parts.length === 0 && !call) return null;
  const shown: readonly Part[] =
    parts.length === 0 && call ? [textPart(`/tool ${call.tool} ${JSON.stringify(call.input)}`)] : parts;
  return { id: key ?? input, role: 'user', content: contentOf(shown) };
}

const PAGE = 500;

/** The thread up to event number `head`. */
export async function readTranscript(
  engine: Pick<Engine, 'events'>,
  ref: SessionRef,
  head: number,
): Promise<Transcript> {
  const transcript = new Transcript();
  for (let seen = 0; seen < head; ) {
    const events = await engine.events(ref, seen, Math.min(PAGE, head - seen));
    for (const event of events) transcript.add(event);
    const last = events.at(-1);
    if (!last) break;
    seen = last.seq;
  }
  return transcript;
}

// Imported history, as messages.

/** A text and the calls after it are one message, unless they have ids of their own. */
function importedMessages({ id: event, input, items }: DurableEvent<'history.imported'>): readonly Message[] {
  const list = new MessageList();
  let answer: string | null = null;
  for (const [index, item] of items.entries()) {
    const own = `${event}-${index}`;
    if (item.type === 'system') continue;
    if (item.type === 'user') {
      list.push({ id: item.key ?? input ?? own, role: 'user', content: contentOf(item.parts) });
      answer = null;
    } else {
      const id: string = item.type === 'call' ? (item.id ?? answer ?? own) : ('id' in item && item.id) || own;
      addItem(list, item, id);
      answer = item.type === 'text' || item.type === 'call' ? id : null;
    }
  }
  return list.all;
}

function addItem(
  list: MessageList,
  item: Exclude<HistoryItem, { type: 'user' | 'system' }>,
  id: string,
): void {
  switch (item.type) {
    case 'text':
      list.push({ id, role: 'assistant', content: item.text });
      return;
    case 'reasoning':
      list.push({ id, role: 'reasoning', content: item.text });
      return;
    case 'call':
      list.add({
        type: 'TOOL_CALL_START',
        toolCallId: item.call,
        toolCallName: item.tool,
        parentMessageId: id,
      });
      list.add({ type: 'TOOL_CALL_ARGS', toolCallId: item.call, delta: JSON.stringify(item.input) });
      return;
    case 'result':
      list.add({
        type: 'TOOL_CALL_RESULT',
        messageId: id,
        toolCallId: item.call,
        content: resultOf(item.parts),
        role: 'tool',
      });
  }
}
