/** PubSub interface for transports: channels, and sets with expiring members. */

export type PubSubEvents = {
  /** Both directions work. Sets may have lost members, and messages may have been lost. */
  connected(): void;
  disconnected(reason: string): void;
  received(channel: string, text: string): void;
};

/**
 * Calls are executed in order. They reject if the pub/sub service cannot be reached, which `disconnected` reports as
 * well.
 */
export interface PubSub {
  /** Resolves with the number of subscribers that received it. */
  publish(channel: string, text: string): Promise<number>;
  /** Adds or renews the members of the set: they expire after `expiryMs`. */
  renew(key: string, members: readonly string[], expiryMs: number): Promise<void>;
  remove(key: string, members: readonly string[]): Promise<void>;
  members(key: string): Promise<readonly string[]>;
  /** The clock of the pub/sub service, which all nodes share, in milliseconds. */
  now(): number;
  close(): Promise<void>;
}

/** Connects in the background, retrying until it succeeds, and subscribes to the channels. */
export type OpenPubSub = (channels: readonly string[], events: PubSubEvents) => PubSub;

// Timings of a transport, in milliseconds; shorter in tests.

/** Timings in milliseconds; shorter in tests. */
export type Timings = {
  /** how long an entry lives without renewal */
  readonly expiryMs: number;
  /** renewal interval of entries */
  readonly renewMs: number;
  /** after lost messages: how long other nodes have to register their entries again */
  readonly rereadMs: number;
};

export const TIMINGS: Timings = { expiryMs: 30_000, renewMs: 10_000, rereadMs: 2_000 };
