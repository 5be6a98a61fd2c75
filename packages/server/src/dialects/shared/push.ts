/** How the rest of the server reaches the clients of a channel, wherever those channels are served. */

export type OccupancyWatcher = {
  /** the channel has its first subscriber */
  occupied(channel: string): void;
  /** the channel has lost its last subscriber */
  vacated(channel: string): void;
};

export interface Push {
  /** Whether an external server has the subscribers. Nobody tells us of them then: watchers are never called. */
  readonly external: boolean;
  /** Sends the event to all subscribers but the socket `except`. Never waits and never throws. */
  publish(channel: string, event: string, data: unknown, except?: string): void;
  /** Tells of channels that are occupied now, at once, and of every change from then on. Returns how to stop. */
  watch(watcher: OccupancyWatcher): () => void;
}

/** Where channels are off. */
export const NO_PUSH: Push = {
  external: false,
  publish: () => undefined,
  watch: () => () => undefined,
};
