/** State shared by all sockets and requests of the application. */
import { randomInt } from 'node:crypto';
import type { Log } from '../../core/index.ts';
import { type ChannelStates, Channels, type StateQuery } from './channels.ts';
import { CODES, LIMITS, type Limits } from './contract.ts';
import type { Credentials } from './signature.ts';

/** The secret from the documentation of Pusher-compatible servers. */
export const DEFAULT_SECRET = 'app-secret';

export type Application = Credentials & {
  readonly id: string;
  /**
   * The secret is the public default, in open mode. A signature then neither opens nor lists our own channels: only `POST
   * /api/pusher/auth` opens one, for the socket in the request.
   */
  readonly known: boolean;
};

/** The clock of sockets, replaced in tests. */
export interface Clock {
  /** in milliseconds */
  now(): number;
  /** Calls `run` once after the delay. Returns a function that cancels it. */
  after(milliseconds: number, run: () => void): () => void;
}

export const SYSTEM_CLOCK: Clock = {
  now: Date.now,
  after(milliseconds, run) {
    const timer = setTimeout(run, milliseconds);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

export type PusherServer = {
  readonly application: Application;
  readonly channels: Channels;
  readonly connected: Connections;
  readonly limits: Limits;
  readonly clock: Clock;
  /** null if there are no other nodes */
  nodes: Nodes | null;
};

/** The sockets and channels of other nodes. */
export interface Nodes {
  /** The state on all nodes together. A node that does not answer in time is left out. */
  states(query: StateQuery): Promise<ChannelStates>;
  /** Closes the sockets of the user on other nodes. */
  terminate(user: string): void;
  /**
   * Permits a channel to a socket of another node, or makes the socket depend on a token. Does nothing if no
   * node has the socket.
   */
  permit(socket: string, channel: string | null, token: string | null): Promise<void>;
}

export function pusherServer(
  application: Application,
  log: Log,
  { limits = {}, clock = SYSTEM_CLOCK }: { limits?: Partial<Limits>; clock?: Clock } = {},
): PusherServer {
  const all = { ...LIMITS, ...limits };
  return {
    application,
    channels: new Channels(() => clock.now(), all, log),
    connected: new Connections(all),
    limits: all,
    clock,
    nodes: null,
  };
}

// The sockets, with their signed-in users and permits.

type Close = (code: number, message: string) => void;

type Entry = {
  readonly close: Close;
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
  add(close: Close): string | null {
    if (this.#entries.size >= this.max.sockets) return null;
    let id = newSocketId();
    while (this.#entries.has(id)) id = newSocketId();
    this.#entries.set(id, { close, user: null, permitted: new Set(), tokens: new Map() });
    return id;
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
      watch((reason) => entry.close(CODES.goingAway, reason)),
    );
    return true;
  }

  /** Closes the sockets that depend on a token whose name has this prefix. */
  closeDependents(prefix: string, reason: string): void {
    for (const { close, tokens } of [...this.#entries.values()])
      if ([...tokens.keys()].some((token) => token.startsWith(prefix))) close(CODES.goingAway, reason);
  }

  /** The close code tells clients to reconnect. */
  close(id: string, reason: string): void {
    this.#entries.get(id)?.close(CODES.goingAway, reason);
  }

  /** A caller with a token has requested something for the socket. */
  isVouchedFor(id: string): boolean {
    return (this.#entries.get(id)?.tokens.size ?? 0) > 0;
  }

  signIn(id: string, user: string): void {
    const entry = this.#entries.get(id);
    if (entry) entry.user = user;
  }

  /** Closes every socket on which this user has signed in. */
  terminate(user: string): void {
    for (const entry of [...this.#entries.values()])
      if (entry.user === user) entry.close(CODES.unauthorised, 'You got disconnected by the app.');
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
