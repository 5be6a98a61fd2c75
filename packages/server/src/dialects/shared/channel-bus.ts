/** Named channels: any dialect can publish, and the channel server delivers to the subscribers. */

export type OccupancyWatcher = {
  /** the channel has its first subscriber */
  occupied(channel: string): void;
  /** the channel has lost its last subscriber */
  vacated(channel: string): void;
};

/** The server of channels. */
export interface ChannelServer {
  /**
   * Sends the event to all subscribers on this node. For what every node tells its own, such as what happens in a session.
   * Never waits and never throws.
   */
  publish(channel: string, event: string, data: unknown): void;
  /** Sends the event to all subscribers, wherever they are. Never waits and never throws. */
  broadcast(channel: string, event: string, data: unknown): void;
  /** Reports channels that are occupied now, at once, and every change from then on. Returns how to stop. */
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
