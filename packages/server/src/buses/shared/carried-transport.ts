/** Implements the transport on any carrier: order, batches, requests, signatures and the registry. */
import type { NodeId } from '../../core/ports/lease.ts';
import type { Log } from '../../core/ports/logger.ts';
import type { Meter } from '../../core/ports/meter.ts';
import {
  type FollowedEntries,
  NoAnswer,
  type NodeMessage,
  type Transport,
} from '../../core/ports/transport.ts';
import type { Carrier, OpenCarrier } from './carrier.ts';
import { Channels } from './channels.ts';

import { type Answer, type Receive, Receiver } from './receiver.ts';
import { NodeRegistry } from './registry.ts';
import { RegistrySets } from './registry-sets.ts';
import { Requests } from './requests.ts';
import { Sender } from './sender.ts';
import { Signatures } from './signatures.ts';
import { TIMINGS, type Timings } from './timings.ts';

export type TransportOptions = {
  readonly node: NodeId;
  /** clusters with different ids are isolated from each other */
  readonly cluster: string;
  /** known only to nodes of the cluster */
  readonly secret: string;
  readonly log: Log;
  readonly meter: Meter;
  readonly timings?: Timings;
};

/** Message kinds of the transport itself. */
const REGISTRY = 'registry';
const ALIVE = 'alive';
const LEAVING = 'leaving';
/** The registry key of all nodes. */
const NODES = 'nodes';

const monotonic = (): number => performance.now();

export class CarriedTransport implements Transport {
  readonly node: NodeId;
  readonly registry: NodeRegistry;
  readonly others: FollowedEntries;
  up = false;
  readonly #carrier: Carrier;
  readonly #sets: RegistrySets;
  readonly #sender: Sender;
  readonly #receiver: Receiver;
  readonly #requests = new Requests();
  readonly #upListeners: Listeners<[]>;
  readonly #downListeners: Listeners<[]>;
  readonly #losses: Listeners<[NodeId]>;
  readonly #announceTimer: ReturnType<typeof setInterval>;
  /** incremented on every connect and disconnect */
  #connection = 0;

  constructor(
    private readonly options: TransportOptions,
    open: OpenCarrier,
  ) {
    const { node, cluster, secret, log, meter, timings = TIMINGS } = options;
    this.node = node;
    this.#upListeners = new Listeners(log);
    this.#downListeners = new Listeners(log);
    this.#losses = new Listeners(log);
    const channels = new Channels(cluster);
    const signatures = new Signatures(cluster, secret);
    this.#receiver = new Receiver({
      node,
      log,
      meter,
      signatures,
      requests: this.#requests,
      now: monotonic,
      carrierNow: () => this.#carrier.now(),
      reply: (to, item) => this.#sets.connected && this.#sender.atOnce(to, item),
      onReceived: (from) => this.registry.sawMessage(from),
      onLost: (from) => this.#lost(from),
    });
    this.#sender = new Sender({
      node,
      channels,
      signatures,
      carrier: () => this.#carrier,
      onOversized: () => this.#receiver.drop('oversized'),
      onAbsent: (absent) => this.#requests.fail(`node ${absent} does not listen`, absent),
    });
    this.#carrier = open([channels.everyone, channels.of(node)], {
      connected: () => void this.#connected(),
      disconnected: (reason) => this.#disconnected(reason),
      received: (channel, text) => this.#receiver.take(channel, text),
    });
    const { prefix } = channels;
    this.#sets = new RegistrySets({
      carrier: this.#carrier,
      prefix,
      expiryMs: timings.expiryMs,
      now: monotonic,
      signatures,
      onForged: () => this.#receiver.drop('signature'),
    });
    this.registry = new NodeRegistry({
      node,
      sets: this.#sets,
      timings,
      announce: (body) => this.#sender.toEveryone({ kind: REGISTRY, body }),
      heardAt: (other) => this.#receiver.heardAt(other),
    });
    this.registry.add(NODES);
    this.others = this.registry.follow([NODES]);
    this.on(REGISTRY, (body, from) => this.registry.announced(from, body));
    this.on(LEAVING, (_body, from) => this.registry.forget(from));
    this.on(ALIVE, () => undefined);
    this.#announceTimer = setInterval(() => this.broadcast({ kind: ALIVE, body: null }), timings.renewMs);
    this.#announceTimer.unref();
    meter.gauge('bus_up', () => (this.up ? 1 : 0));
  }

  send(to: readonly NodeId[], message: NodeMessage): void {
    if (this.up && to.length > 0) this.#sender.to(to, message);
  }

  broadcast(message: NodeMessage): void {
    if (this.up) this.#sender.toEveryone(message);
  }

  on(kind: string, receive: Receive): () => void {
    return this.#receiver.on(kind, receive);
  }

  respond(kind: string, answer: Answer): () => void {
    return this.#receiver.respond(kind, answer);
  }

  async request(to: NodeId, message: NodeMessage, timeoutMs: number): Promise<unknown> {
    if (!this.up) throw new NoAnswer('the bus is down', 'no');
    const { id, answered } = this.#requests.begin(to, message.kind, timeoutMs);
    this.#sender.atOnce(to, { ...message, request: id });
    return answered;
  }

  onUp(listener: () => void): () => void {
    return this.#upListeners.add(listener);
  }

  onDown(listener: () => void): () => void {
    return this.#downListeners.add(listener);
  }

  onLost(listener: (from: NodeId) => void): () => void {
    return this.#losses.add(listener);
  }

  async close(): Promise<void> {
    clearInterval(this.#announceTimer);
    this.broadcast({ kind: LEAVING, body: null });
    this.#sender.flush();
    await this.registry.close();
    this.#stop('the bus is closed');
    await this.#carrier.close();
  }

  async #connected(): Promise<void> {
    const connection = ++this.#connection;
    this.#sender.restart();
    this.#receiver.restart();
    this.#sets.connected = true;
    await this.registry.restore();
    if (connection !== this.#connection) return;
    this.up = true;
    this.options.log.info({ node: this.node }, 'bus connected');
    this.#upListeners.call();
  }

  #disconnected(reason: string): void {
    const wasUp = this.up;
    this.#stop('the bus is down');
    if (!wasUp) return;
    this.options.log.warn({ node: this.node, reason }, 'bus disconnected');
    this.#downListeners.call();
  }

  #stop(reason: string): void {
    this.#connection++;
    this.up = false;
    this.#sets.connected = false;
    this.#sender.clear();
    this.#requests.fail(reason);
  }

  #lost(from: NodeId): void {
    void this.registry.reread();
    this.#losses.call(from);
  }
}

/** Listeners that are called in order. One that throws is logged. */
class Listeners<Args extends unknown[]> {
  readonly #listeners = new Set<(...args: Args) => void>();

  constructor(private readonly log: Log) {}

  add(listener: (...args: Args) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  call(...args: Args): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(...args);
      } catch (thrown) {
        this.log.error({ err: thrown }, 'bus listener failed');
      }
    }
  }
}
