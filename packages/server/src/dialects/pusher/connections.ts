/** The sockets of the application, with their signed-in users and permits. */
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
  /** functions that stop watching a token, by the name of the token */
  readonly tokens: Map<string, () => void>;
};

/** A client that renews its token and keeps its socket depends on both; more than this many is abuse. */
const MAX_TOKENS = 16;

const newSocketId = (): string => `${randomInt(1, 2 ** 47)}.${randomInt(1, 2 ** 47)}`;

export class Connections {
  readonly #entries = new Map<string, Entry>();

  constructor(private readonly max: { readonly sockets: number; readonly channelsPerSocket: number }) {}

  /** Adds the socket under a new id; null if the limit is reached. */
  add(close: Client['close']): Client | null {
    if (this.#entries.size >= this.max.sockets) return null;
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
   * Closes the socket when the token becomes invalid. The close code tells clients to reconnect: they are then
   * refused what the token allowed, and keep public channels. `watch` starts watching the token and returns a
   * function that stops it. Returns false if the socket already depends on too many tokens.
   */
  dependOn(id: string, token: string, watch: (ended: (reason: string) => void) => () => void): boolean {
    const entry = this.#entries.get(id);
    if (!entry || entry.tokens.has(token)) return true;
    if (entry.tokens.size >= MAX_TOKENS) return false;
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

  /** A caller with a token has requested something for the socket. */
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

  /** Closes every socket on which this user has signed in. */
  terminate(user: string, code: number, message: string): void {
    for (const entry of [...this.#entries.values()]) {
      if (entry.user === user) entry.client.close(code, message);
    }
  }

  /** Allows the socket to subscribe to the channel. Does nothing for unknown sockets and beyond the limit. */
  permit(id: string, channel: string): void {
    const permitted = this.#entries.get(id)?.permitted;
    if (permitted && permitted.size < this.max.channelsPerSocket) permitted.add(channel);
  }

  /** Whether the channel was permitted. A permit is valid once. */
  redeem(id: string, channel: string): boolean {
    return this.#entries.get(id)?.permitted.delete(channel) ?? false;
  }
}
