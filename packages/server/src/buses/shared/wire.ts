/** What a transport needs of its carrier: channels, and sets whose members expire. */

export type WireEvents = {
  /** Both directions work. The sets may have lost their members, and messages may have been lost. */
  connected(): void;
  disconnected(reason: string): void;
  received(channel: string, text: string): void;
};

/** Calls are carried out in order. They reject if the carrier cannot be reached, which `disconnected` reports as well. */
export interface Wire {
  /** Resolves with the number of subscribers that it was delivered to. */
  publish(channel: string, text: string): Promise<number>;
  /** Adds the members to the set, or renews them: they expire after `expiryMs`. */
  renew(key: string, members: readonly string[], expiryMs: number): Promise<void>;
  remove(key: string, members: readonly string[]): Promise<void>;
  members(key: string): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** Connects in the background, again and again, and subscribes to the channels. */
export type OpenWire = (channels: readonly string[], events: WireEvents) => Wire;
