/** A session that the editor has open, and how much of it the editor has received. */
import type { Message, Meta } from './message.ts';

/** Number of messages whose length is tracked, for those being streamed when the connection is lost. */
const MAX_MESSAGES = 100;

export class OpenSession {
  /** last stored event that the editor has received */
  #seq = 0;
  /** characters of the latest messages that the editor has received */
  readonly #seen = new Map<string, number>();
  /** the connection is new: streamed text is sent from its beginning */
  #isNew = false;

  constructor(readonly cwd: string) {}

  get seq(): number {
    return this.#seq;
  }

  reconnected(): void {
    this.#isNew = true;
  }

  updatePosition(meta: Meta): void {
    const seq = meta?.['parlance/seq'];
    if (typeof seq === 'number') this.#seq = Math.max(this.#seq, seq);
  }

  /** The part of an update that the editor has not received; null if none. */
  unseen(message: Message): Message | null {
    const { update, _meta } = message.params ?? {};
    this.updatePosition(_meta);
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
    if (this.#seen.size > MAX_MESSAGES && oldest !== undefined) this.#seen.delete(oldest);
    if (text === content.text) return message;
    if (text === '') return null;
    return {
      ...message,
      params: { ...message.params, update: { ...update, content: { ...content, text } } },
    };
  }
}
