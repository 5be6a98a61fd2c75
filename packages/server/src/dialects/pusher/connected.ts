/** The sockets of the application: how many, who has signed in on them, and what they were permitted. */
import { randomInt } from 'node:crypto';
import { CODES } from './protocol.ts';

export type Client = {
  readonly id: string;
  close(code: number, message: string): void;
};

type Entry = {
  readonly client: Client;
  user: string | null;
  readonly permitted: Set<string>;
  /** what ends the watch over a token, by a name of the token */
  readonly tokens: Map<string, () => void>;
};

/** A client that renews its token and keeps its socket depends on both; more than this many are made up. */
const MOST_TOKENS = 16;

const newSocketId = (): string => `${randomInt(1, 2 ** 47)}.${randomInt(1, 2 ** 47)}`;

export class Connected {
  readonly #entries = new Map<string, Entry>();

  constructor(private readonly most: { readonly sockets: number; readonly channelsPerSocket: number }) {}

  /** Adds the socket under a new id; null if there is no room. */
  add(close: Client['close']): Client | null {
    if (this.#entries.size >= this.most.sockets) return null;
    let id = newSocketId();
    while (this.#entries.has(id)) id = newSocketId();
    const client = { id, close };
    this.#entries.set(id, { client, user: null, permitted: new Set(), tokens: new Map() });
    return client;
  }

  remove(id: string): void {
    for (const endGuard of this.#entries.get(id)?.tokens.values() ?? []) endGuard();
    this.#entries.delete(id);
  }

  has(id: string): boolean {
    return this.#entries.has(id);
  }

  /**
   * The socket is given something on the word of a token, and is closed when the token is no longer good. The code tells
   * clients to connect again: there they are refused what they have lost, and keep what is everybody's. `watch` begins the
   * watch over the token, and returns what ends it. False where the socket depends on too many already.
   */
  dependOn(id: string, token: string, watch: (ended: (reason: string) => void) => () => void): boolean {
    const entry = this.#entries.get(id);
    if (!entry || entry.tokens.has(token)) return true;
    if (entry.tokens.size >= MOST_TOKENS) return false;
    entry.tokens.set(
      token,
      watch((reason) => entry.client.close(CODES.goingAway, reason)),
    );
    return true;
  }

  /** Closes the sockets that depend on a token whose name has this prefix. */
  closeDependents(prefix: string, code: number, message: string): void {
    for (const { client, tokens } of [...this.#entries.values()])
      if ([...tokens.keys()].some((token) => token.startsWith(prefix))) client.close(code, message);
  }

  close(id: string, code: number, message: string): void {
    this.#entries.get(id)?.client.close(code, message);
  }

  /** Whether a caller with a token has asked for something for the socket. */
  isVouchedFor(id: string): boolean {
    return (this.#entries.get(id)?.tokens.size ?? 0) > 0;
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

  /** Allows the socket to subscribe to that channel. No effect for unknown sockets and beyond the limit. */
  permit(id: string, channel: string): void {
    const permitted = this.#entries.get(id)?.permitted;
    if (permitted && permitted.size < this.most.channelsPerSocket) permitted.add(channel);
  }

  /** Whether it was permitted. A permit opens the channel once. */
  redeem(id: string, channel: string): boolean {
    return this.#entries.get(id)?.permitted.delete(channel) ?? false;
  }
}
