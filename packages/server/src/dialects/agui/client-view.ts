/** What the client of a run already has, according to the messages of its request. */
import type { ContentEvent, Message } from './events.ts';
import type { Message as GivenMessage } from './schemas.ts';

/** The client refuses an event of more than 10 MB. */
const MAX_CHARACTERS = 8_000_000;

export class ClientView {
  readonly #messages = new Set<string>();
  readonly #calls = new Set<string>();
  /** ids of result messages, by call: results of front-end tools have ids of the client */
  readonly #results = new Map<string, string>();
  /**
   * instructions are not part of the conversation, but a snapshot without them would remove them from the
   * client
   */
  readonly #instructions: Message[] = [];

  constructor(messages: readonly GivenMessage[]) {
    for (const message of messages) {
      const { id, role } = message;
      this.#messages.add(id);
      if (role === 'assistant') for (const call of message.toolCalls ?? []) this.#calls.add(call.id);
      if (role === 'tool') this.#results.set(message.toolCallId, id);
      if (role === 'system' || role === 'developer')
        this.#instructions.push({ id, role, content: message.content });
    }
  }

  /** Whether the client already has the content of the event. */
  has(event: ContentEvent): boolean {
    if (event.type === 'TOOL_CALL_RESULT') return this.#results.has(event.toolCallId);
    return 'toolCallId' in event ? this.#calls.has(event.toolCallId) : this.#messages.has(event.messageId);
  }

  /** The messages of the thread for this client; only the latest ones if they exceed one event. */
  snapshot(messages: readonly Message[]): Message[] {
    const shown: Message[] = [];
    let left = MAX_CHARACTERS;
    for (const message of messages.toReversed()) {
      const own = this.#withOwnId(message);
      left -= JSON.stringify(own).length;
      if (left < 0) break;
      shown.push(own);
    }
    return [...this.#instructions, ...shown.reverse()];
  }

  #withOwnId(message: Message): Message {
    const id = message.role === 'tool' ? this.#results.get(message.toolCallId) : undefined;
    return id === undefined ? message : { ...message, id };
  }
}
