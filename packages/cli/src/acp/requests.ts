/** Pending requests of the editor and of the pipe itself. */
import type { LinkSocket } from '../stdio/server-link.ts';
import type { Message } from './message.ts';

type Pending = { readonly message: Message; readonly line: Buffer; readonly key: string | null };

/** Prefix of the pipe's own request ids, unique among clients. */
const OWN = `parlance-${crypto.randomUUID()}-`;

export class Requests {
  readonly #pending = new Map<string, Pending>();
  readonly #own = new Map<string, (answer: Message) => void>();
  #askedAgain = new Set<string>();
  #settled: (() => void)[] = [];
  #count = 0;

  /** The message to send: prompts get a key, so that they can be sent again. */
  begin(message: Message, line: Buffer): Buffer {
    if (
      message.method !== 'session/prompt' ||
      typeof message.params !== 'object' ||
      message.params === null
    ) {
      this.#pending.set(keyOf(message.id), { message, line, key: null });
      return line;
    }
    const key = crypto.randomUUID();
    const { params } = message;
    const _meta = { ...params._meta, 'parlance/key': key };
    const keyed = Buffer.from(JSON.stringify({ ...message, params: { ...params, _meta } }));
    this.#pending.set(keyOf(message.id), { message, line: keyed, key });
    return keyed;
  }

  take(id: Message['id']): Pending | null {
    const pending = this.#pending.get(keyOf(id)) ?? null;
    this.#pending.delete(keyOf(id));
    this.#settle();
    return pending;
  }

  /** Drops and returns requests that the server will not answer. */
  drop(matches: (message: Message) => boolean): Message[] {
    const dropped = [...this.#pending.values()].filter(({ message }) => matches(message));
    for (const { message } of dropped) this.#pending.delete(keyOf(message.id));
    this.#settle();
    return dropped.map(({ message }) => message);
  }

  /** Resolves when no request is pending. */
  settled(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#settled.push(resolve);
    this.#settle();
    return promise;
  }

  /** The pending prompts, as they were sent. */
  prompts(): Buffer[] {
    return [...this.#pending.values()].flatMap(({ key, line }) => (key === null ? [] : [line]));
  }

  keysIn(sessionId: string): string[] {
    return [...this.#pending.values()].flatMap(({ key, message }) =>
      key !== null && message.params?.sessionId === sessionId ? [key] : [],
    );
  }

  /** Sends a request of the pipe itself; its answer is not passed to the editor. */
  own(socket: LinkSocket, method: string, params: object): Promise<Message> {
    const { promise, resolve } = Promise.withResolvers<Message>();
    const id = `${OWN}${++this.#count}`;
    this.#own.set(id, resolve);
    socket.send(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, method, params })));
    return promise;
  }

  isOwn(id: Message['id']): boolean {
    return typeof id === 'string' && id.startsWith(OWN);
  }

  end(answer: Message): void {
    const id = String(answer.id);
    this.#own.get(id)?.(answer);
    this.#own.delete(id);
  }

  askedAgain(approval: string): void {
    this.#askedAgain.add(approval);
  }

  answeredElsewhere(asked: readonly string[]): string[] {
    const again = this.#askedAgain;
    this.#askedAgain = new Set();
    return asked.filter((approval) => !again.has(approval));
  }

  #settle(): void {
    if (this.#pending.size > 0) return;
    for (const resolve of this.#settled.splice(0)) resolve();
  }
}

const keyOf = (id: Message['id']): string => JSON.stringify(id ?? null);
