/** A session that the editor has open, and what the editor has seen of it. */
import type { Message, Meta } from './message.ts';

/** Messages whose length is remembered: those that were streamed when the connection was lost. */
const MOST_MESSAGES = 100;

export class OpenSession {
  /** the last stored event that the editor has seen */
  #seq = 0;
  /** characters of the latest messages that the editor has seen */
  readonly #seen = new Map<string, number>();
  /** the connection is new: the text that is being streamed comes from its beginning */
  #isNew = false;

  constructor(readonly cwd: string) {}

  get seq(): number {
    return this.#seq;
  }

  reconnected(): void {
    this.#isNew = true;
  }

  seenUpTo(meta: Meta): void {
    const seq = meta?.['parlance/seq'];
    if (typeof seq === 'number') this.#seq = Math.max(this.#seq, seq);
  }

  /** What the editor has not seen of an update; null if it has seen everything. */
  unseen(message: Message): Message | null {
    const { update, _meta } = message.params ?? {};
    this.seenUpTo(_meta);
    const seq = _meta?.['parlance/seq'];
    const { sessionUpdate, messageId, content } = update ?? {};
    if (messageId === undefined || content?.text === undefined || !sessionUpdate?.startsWith('agent_'))
      return message;
    const isWhole = typeof seq === 'number' || this.#isNew;
    if (typeof seq !== 'number') this.#isNew = false;
    const known = this.#seen.get(messageId) ?? 0;
    const text = isWhole ? content.text.slice(known) : content.text;
    this.#seen.delete(messageId);
    this.#seen.set(messageId, known + text.length);
    const [oldest] = this.#seen.keys();
    if (this.#seen.size > MOST_MESSAGES && oldest !== undefined) this.#seen.delete(oldest);
    if (text === content.text) return message;
    if (text === '') return null;
    return {
      ...message,
      params: { ...message.params, update: { ...update, content: { ...content, text } } },
    };
  }
}
