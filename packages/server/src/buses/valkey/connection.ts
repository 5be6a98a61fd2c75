/**
 * Two connections to a Valkey or Redis server: a listener, since a subscribed connection accepts no other
 * commands, and a speaker. They are opened and closed together. The client's own reconnect is disabled, since
 * it does not resubscribe.
 */
import { RedisClient } from 'bun';
import { deadline } from './deadline.ts';

export type ConnectionOptions = {
  readonly url: string;
  /** PEM of the certificate authority of the server, if it is not a public one */
  readonly authority?: string;
  readonly channels: readonly string[];
  readonly received: (channel: string, text: string) => void;
  /** Called once, when the server closes either connection. */
  readonly closed: (reason: string) => void;
};

/** Time limit for connecting both. */
const CONNECT_MS = 2_000;

export class Connection {
  #over = false;

  private constructor(
    readonly speaker: RedisClient,
    private readonly listener: RedisClient,
  ) {}

  static async open(options: ConnectionOptions): Promise<Connection> {
    const [speaker, listener] = [clientOf(options), clientOf(options)];
    const connection = new Connection(speaker, listener);
    try {
      await deadline(connection.#connect(options), CONNECT_MS);
      return connection;
    } catch (thrown) {
      connection.close();
      throw thrown;
    }
  }

  get open(): boolean {
    return !this.#over;
  }

  /** Receives nothing more, and does not report its end. */
  close(): void {
    this.#over = true;
    this.speaker.close();
    this.listener.close();
  }

  async #connect({ channels, received, closed }: ConnectionOptions): Promise<void> {
    const end = (error: Error): void => {
      if (this.#over) return;
      this.#over = true;
      closed(error?.message ?? 'connection closed');
    };
    for (const client of [this.speaker, this.listener]) client.onclose = end;
    await Promise.all([this.speaker.connect(), this.listener.connect()]);
    const listen = (text: string, channel: string): void => {
      if (!this.#over) received(channel, text);
    };
    await this.listener.subscribe([...channels], listen);
  }
}

const clientOf = ({ url, authority }: ConnectionOptions): RedisClient =>
  new RedisClient(url, {
    autoReconnect: false,
    enableOfflineQueue: false,
    connectionTimeout: CONNECT_MS,
    ...(authority === undefined ? {} : { tls: { ca: authority } }),
  });
