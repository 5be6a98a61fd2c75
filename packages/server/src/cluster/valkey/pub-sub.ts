/** Valkey or Redis as a pub/sub service: pub/sub for channels, and sorted sets whose scores are expiry times. */

import { RedisClient } from 'bun';
import type { PubSub, PubSubEvents } from '../pub-sub.ts';

export type ValkeyServer = {
  readonly url: string;
  /** PEM of the certificate authority of the server, if it is not a public one */
  readonly authority?: string;
};

const RETRY_MS = 100;
/**
 * A command without a response within this time ends the connection, since a closed client may leave it
 * pending.
 */
const COMMAND_MS = 2_000;
const FIRST_ANSWER_MS = 1_000;
/**
 * Limit of published but unacknowledged bytes. Beyond it the server does not keep up, and messages are
 * dropped.
 */
const MAX_UNACKNOWLEDGED = 32 * 1024 * 1024;

type Live = { readonly connection: Connection; readonly probe: Probe };

export class ValkeyPubSub implements PubSub {
  /** Null if the first connection attempt has succeeded, otherwise the reason. */
  readonly firstAttempt: Promise<Error | null>;
  readonly #attempted = Promise.withResolvers<Error | null>();
  #live: Live | null = null;
  #closed = false;
  #retry: ReturnType<typeof setTimeout> | null = null;
  #unacknowledged = 0;

  constructor(
    private readonly server: ValkeyServer,
    private readonly channels: readonly string[],
    private readonly events: PubSubEvents,
  ) {
    this.firstAttempt = this.#attempted.promise;
    void this.#connect();
  }

  async publish(channel: string, text: string): Promise<number> {
    this.#unacknowledged += text.length;
    if (this.#unacknowledged > MAX_UNACKNOWLEDGED) this.#lose('the server does not keep up');
    try {
      return await this.#run(({ connection }) => connection.speaker.publish(channel, text));
    } finally {
      this.#unacknowledged -= text.length;
    }
  }

  async renew(key: string, members: readonly string[], expiryMs: number): Promise<void> {
    await this.#run(({ connection: { speaker }, probe }) => {
      const until = String(Math.ceil(performance.now() + probe.clockOffset + expiryMs));
      const scored = members.flatMap((member) => [until, member]);
      return Promise.all([
        speaker.send('ZADD', [key, ...scored]),
        speaker.send('PEXPIRE', [key, String(expiryMs)]),
      ]);
    });
  }

  async remove(key: string, members: readonly string[]): Promise<void> {
    await this.#run(({ connection }) => connection.speaker.send('ZREM', [key, ...members]));
  }

  async members(key: string): Promise<readonly string[]> {
    const [, members] = await this.#run(({ connection: { speaker }, probe }) => {
      const now = String(Math.floor(performance.now() + probe.clockOffset));
      return Promise.all([
        speaker.send('ZREMRANGEBYSCORE', [key, '-inf', now]),
        speaker.send('ZRANGE', [key, '0', '-1']),
      ]);
    });
    return members;
  }

  now(): number {
    return performance.now() + (this.#live?.probe.clockOffset ?? 0);
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#retry) clearTimeout(this.#retry);
    this.#live?.probe.stop();
    this.#live?.connection.close();
    this.#live = null;
  }

  /** Any failure ends the connection: a command that failed would leave the state incomplete. */
  async #run<Value>(act: (live: Live) => Promise<Value>): Promise<Value> {
    const live = this.#live;
    if (!live) throw new Error('not connected');
    try {
      return await deadline(act(live), COMMAND_MS);
    } catch (thrown) {
      if (live === this.#live) this.#lose(messageOf(thrown));
      throw thrown;
    }
  }

  async #connect(): Promise<void> {
    try {
      const live = await this.#open();
      if (this.#closed) {
        live.probe.stop();
        live.connection.close();
        return;
      }
      this.#live = live;
      this.#attempted.resolve(null);
      this.events.connected();
    } catch (thrown) {
      this.#attempted.resolve(thrown instanceof Error ? thrown : new Error(String(thrown)));
      this.#connectLater();
    }
  }

  async #open(): Promise<Live> {
    const [, own = ''] = this.channels;
    const opened: { connection?: Connection } = {};
    const ended = (reason: string): void => {
      if (opened.connection && opened.connection === this.#live?.connection) this.#lose(reason);
    };
    const probe = new Probe({ ask: (text) => askTime(opened.connection, own, text), failed: ended });
    const connection = await Connection.open({
      ...this.server,
      channels: this.channels,
      received: (channel, text) => {
        if (channel !== own || !probe.take(text)) this.events.received(channel, text);
      },
      closed: ended,
    });
    opened.connection = connection;
    try {
      await deadline(probe.start(), FIRST_ANSWER_MS);
      if (!connection.open) throw new Error('connection closed');
      return { connection, probe };
    } catch (thrown) {
      probe.stop();
      connection.close();
      throw thrown;
    }
  }

  #lose(reason: string): void {
    if (!this.#live) return;
    const { connection, probe } = this.#live;
    this.#live = null;
    probe.stop();
    connection.close();
    this.events.disconnected(reason);
    this.#connectLater();
  }

  #connectLater(): void {
    if (this.#closed) return;
    this.#retry = setTimeout(() => void this.#connect(), RETRY_MS);
  }
}

/** Publishes the text, and resolves with the server's clock in milliseconds. */
async function askTime(connection: Connection | undefined, channel: string, text: string): Promise<number> {
  if (!connection) throw new Error('not connected');
  const { speaker } = connection;
  const [, time] = await Promise.all([speaker.publish(channel, text), speaker.send('TIME', [])]);
  return Number(time[0]) * 1_000 + Number(time[1]) / 1_000;
}

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

// Two connections to a Valkey or Redis server: a listener, since a subscribed connection accepts no other
// commands, and a speaker. They are opened and closed together. The client's own reconnect is disabled, since
// it does not resubscribe.

type ConnectionOptions = {
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

class Connection {
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

/**
 * Monitors a connection: twice a second, publishes a text that must come back to this node, which proves that
 * both directions work. Also reads the server's clock, which determines expiry.
 */
type ProbeOptions = {
  /** Publishes the text to the own channel, and resolves with the server's time in milliseconds. */
  readonly ask: (text: string) => Promise<number>;
  readonly failed: (reason: string) => void;
};

const PROBE_MS = 500;
/** After a pause of this process, first read what the server has sent. */
const GRACE_MS = 50;
const TEXT = 'probe';

class Probe {
  /** offset of the server's clock to `performance.now()` */
  clockOffset = 0;
  /** parts of the last probe that have not come back yet */
  #text = false;
  #answer = false;
  #over = false;
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(private readonly options: ProbeOptions) {}

  /** Resolves when the first probe has come back. */
  async start(): Promise<void> {
    await this.#send();
    this.#after(PROBE_MS, () => this.#check());
  }

  stop(): void {
    this.#over = true;
    if (this.#timer) clearTimeout(this.#timer);
  }

  /** True if the text is a probe. Any text proves that the connection works. */
  take(text: string): boolean {
    this.#text = false;
    return text === TEXT;
  }

  #check(): void {
    if (this.#complete) this.#next();
    else
      this.#after(GRACE_MS, () => {
        if (this.#complete) this.#next();
        else this.#fail(`no response within ${PROBE_MS} ms`);
      });
  }

  get #complete(): boolean {
    return !this.#text && !this.#answer;
  }

  #next(): void {
    this.#send().catch((thrown) => this.#fail(thrown instanceof Error ? thrown.message : String(thrown)));
    this.#after(PROBE_MS, () => this.#check());
  }

  async #send(): Promise<void> {
    this.#text = true;
    this.#answer = true;
    this.clockOffset = (await this.options.ask(TEXT)) - performance.now();
    this.#answer = false;
  }

  #after(ms: number, act: () => void): void {
    if (this.#over) return;
    this.#timer = setTimeout(act, ms);
    this.#timer.unref();
  }

  #fail(reason: string): void {
    if (this.#over) return;
    this.stop();
    this.options.failed(reason);
  }
}

/** Rejects if the promise does not settle in time, for servers that hang. */
export async function deadline<Value>(promise: Promise<Value>, ms: number): Promise<Value> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no response within ${ms} ms`)), ms);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
