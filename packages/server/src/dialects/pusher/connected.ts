/** The sockets of the application: how many, who has signed in on them, and what they were permitted. */
import { randomInt } from 'node:crypto';

export type Client = {
  readonly id: string;
  close(code: number, message: string): void;
};

type Entry = { readonly client: Client; user: string | null; readonly permitted: Set<string> };

const newSocketId = (): string => `${randomInt(1, 2 ** 47)}.${randomInt(1, 2 ** 47)}`;

export class Connected {
  readonly #entries = new Map<string, Entry>();

  constructor(private readonly most: { readonly sockets: number; readonly channelsPerSocket: number }) {}

  /** Takes the socket in under an id of its own; null where there is no room. */
  add(close: Client['close']): Client | null {
    if (this.#entries.size >= this.most.sockets) return null;
    let id = newSocketId();
    while (this.#entries.has(id)) id = newSocketId();
    const client = { id, close };
    this.#entries.set(id, { client, user: null, permitted: new Set() });
    return client;
  }

  remove(id: string): void {
    this.#entries.delete(id);
  }

  signIn(id: string, user: string): void {
    const entry = this.#entries.get(id);
    if (entry) entry.user = user;
  }

  userOf(id: string): string | null {
    return this.#entries.get(id)?.user ?? null;
  }

  /** Closes every socket on which that user has signed in. */
  terminate(user: string, code: number, message: string): void {
    for (const entry of [...this.#entries.values()]) {
      if (entry.user === user) entry.client.close(code, message);
    }
  }

  /** The socket may subscribe to that channel. A socket that is not here, or asks for too many, gets nothing by it. */
  permit(id: string, channel: string): void {
    const permitted = this.#entries.get(id)?.permitted;
    if (permitted && permitted.size < this.most.channelsPerSocket) permitted.add(channel);
  }

  /** Whether it was permitted. A permit opens the channel once. */
  redeem(id: string, channel: string): boolean {
    return this.#entries.get(id)?.permitted.delete(channel) ?? false;
  }
}
