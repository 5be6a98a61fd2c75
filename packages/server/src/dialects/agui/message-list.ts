/** Messages as clients make them from events. */
import type { ContentEvent, Message } from './events.ts';

type Call = { id: string; type: 'function'; function: { name: string; arguments: string } };
type Mutable = { id: string; role: string; content?: string; toolCalls?: Call[]; toolCallId?: string };

export class MessageList {
  readonly #messages: Mutable[] = [];

  get length(): number {
    return this.#messages.length;
  }

  get all(): readonly Message[] {
    return this.#messages as unknown as readonly Message[];
  }

  push(...messages: readonly Message[]): void {
    this.#messages.push(...(messages as unknown as Mutable[]));
  }

  /** Removes the messages from this index on. */
  cut(length: number): void {
    this.#messages.length = Math.min(this.#messages.length, length);
  }

  add(event: ContentEvent): void {
    switch (event.type) {
      case 'TEXT_MESSAGE_START':
      case 'REASONING_MESSAGE_START': {
        const known = this.#find(event.messageId);
        if (known) known.content ??= '';
        else this.#messages.push({ id: event.messageId, role: event.role, content: '' });
        return;
      }
      case 'TEXT_MESSAGE_CONTENT':
      case 'REASONING_MESSAGE_CONTENT': {
        const message = this.#find(event.messageId);
        if (message) message.content += event.delta;
        return;
      }
      case 'TOOL_CALL_START':
        this.#startCall(event);
        return;
      case 'TOOL_CALL_ARGS': {
        const call = this.#callsOf(this.#ownerOf(event.toolCallId)).find(({ id }) => id === event.toolCallId);
        if (call) call.function.arguments += event.delta;
        return;
      }
      case 'TOOL_CALL_RESULT': {
        const { messageId: id, role, toolCallId, content } = event;
        this.#placeResult({ id, role, toolCallId, content });
        return;
      }
      case 'REASONING_START':
      case 'REASONING_MESSAGE_END':
      case 'REASONING_END':
      case 'TEXT_MESSAGE_END':
      case 'TOOL_CALL_END':
        return;
    }
  }

  #startCall({
    toolCallId,
    toolCallName,
    parentMessageId,
  }: Extract<ContentEvent, { type: 'TOOL_CALL_START' }>): void {
    let message = this.#find(parentMessageId);
    if (!message) {
      message = { id: parentMessageId, role: 'assistant' };
      this.#messages.push(message);
    }
    const call: Call = { id: toolCallId, type: 'function', function: { name: toolCallName, arguments: '' } };
    message.toolCalls = [...(message.toolCalls ?? []), call];
  }

  /** After the message with the call, and the results that it has already. */
  #placeResult(result: Mutable): void {
    const owner = this.#ownerOf(result.toolCallId ?? '');
    if (!owner) {
      this.#messages.push(result);
      return;
    }
    let at = this.#messages.lastIndexOf(owner) + 1;
    while (this.#messages[at]?.role === 'tool') at++;
    this.#messages.splice(at, 0, result);
  }

  /** The last ones are the likely ones. */
  #find(id: string): Mutable | undefined {
    return this.#messages.findLast((message) => message.id === id);
  }

  #ownerOf(call: string): Mutable | undefined {
    return this.#messages.findLast((message) => this.#callsOf(message).some(({ id }) => id === call));
  }

  #callsOf(message: Mutable | undefined): readonly Call[] {
    return message?.toolCalls ?? [];
  }
}
