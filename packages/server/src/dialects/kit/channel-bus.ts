/** Named channels: any dialect can publish, and the channel server delivers to subscribers. */

export type OccupancyWatcher = {
  /**
   * The channel is about to have its first subscriber, which is confirmed when the promise resolves: from then on, it misses
   * nothing that is published. Null if the watcher publishes nothing there. Never rejects.
   */
  prepare?(channel: string): Promise<void> | null;
  /** the channel has its first subscriber */
  occupied(channel: string): void;
  /** the channel has lost its last subscriber */
  vacated(channel: string): void;
};

/** The channel server. */
export interface ChannelServer {
  /**
   * Sends the event to the subscribers on this node. For events that every node publishes itself, such as those
   * of a session. Never waits and never throws.
   */
  publish(channel: string, event: string, data: unknown): void;
  /** Sends the event to the subscribers on all nodes. Never waits and never throws. */
  broadcast(channel: string, event: string, data: unknown): void;
  /** Reports the channels that are occupied now, then every change. Returns a function that stops it. */
  watch(watcher: OccupancyWatcher): () => void;
}

/** Without a server, publishing does nothing. */
export class ChannelBus implements ChannelServer {
  readonly #servers = new Set<ChannelServer>();
  readonly #watchers = new Map<OccupancyWatcher, Map<ChannelServer, () => void>>();

  /** From now on `server` receives published events, and watchers are notified of its channels. */
  attach(server: ChannelServer): void {
    this.#servers.add(server);
    for (const [watcher, stops] of this.#watchers) stops.set(server, server.watch(watcher));
  }

  publish(channel: string, event: string, data: unknown): void {
    for (const server of this.#servers) server.publish(channel, event, data);
  }

  broadcast(channel: string, event: string, data: unknown): void {
    for (const server of this.#servers) server.broadcast(channel, event, data);
  }

  watch(watcher: OccupancyWatcher): () => void {
    const stops = new Map<ChannelServer, () => void>();
    this.#watchers.set(watcher, stops);
    for (const server of this.#servers) stops.set(server, server.watch(watcher));
    return () => {
      this.#watchers.delete(watcher);
      for (const stop of stops.values()) stop();
    };
  }
}
