/** Implements the transport on any pub/sub service: order, batches, requests, signatures and the registry. */

import type { Json } from '@parlance/protocol';
import type { NodeId } from '../core/ports/lease.ts';
import type { Log, Meter } from '../core/ports/telemetry.ts';
import { type Clock, type ClockTimer, SYSTEM_CLOCK } from '../lib/clock.ts';
import {
  type Batch,
  type DropReason,
  decodeBatch,
  encodeBatch,
  encodeItem,
  type Item,
  Signatures,
  type Stamp,
} from './envelope.ts';
import { type OpenPubSub, type PubSub, TIMINGS, type Timings } from './pub-sub.ts';
import { NodeRegistry, RegistrySets } from './registry.ts';
import { type FollowedEntries, NoAnswer, type NodeMessage, type Transport } from './transport.ts';

export type TransportOptions = {
  readonly node: NodeId;
  /** clusters with different ids are isolated from each other */
  readonly cluster: string;
  /** known only to nodes of the cluster */
  readonly secret: string;
  readonly log: Log;
  readonly meter: Meter;
  readonly timings?: Timings;
  /** the clock of the machine by default */
  readonly clock?: Clock;
};

/** Message kinds of the transport itself. */
const REGISTRY = 'registry';
const ALIVE = 'alive';
const LEAVING = 'leaving';
/** The registry key of all nodes. */
const NODES = 'nodes';

export class PubSubTransport implements Transport {
  readonly node: NodeId;
  readonly registry: NodeRegistry;
  readonly others: FollowedEntries;
  up = false;
  readonly #pubSub: PubSub;
  readonly #sets: RegistrySets;
  readonly #sender: Sender;
  readonly #receiver: Receiver;
  readonly #requests: Requests;
  readonly #upListeners: Listeners<[]>;
  readonly #downListeners: Listeners<[]>;
  readonly #losses: Listeners<[NodeId]>;
  readonly #announceTimer: ClockTimer;
  readonly #clock: Clock;
  /** incremented on every connect and disconnect */
  #connection = 0;

  constructor(
    private readonly options: TransportOptions,
    open: OpenPubSub,
  ) {
    const { node, cluster, secret, log, meter, timings = TIMINGS, clock = SYSTEM_CLOCK } = options;
    this.node = node;
    this.#clock = clock;
    this.#requests = new Requests(clock);
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
      now: clock.elapsed,
      pubSubNow: () => this.#pubSub.now(),
      reply: (to, item) => this.#sets.connected && this.#sender.atOnce(to, item),
      onReceived: (from) => this.registry.sawMessage(from),
      onLost: (from) => this.#lost(from),
    });
    this.#sender = new Sender({
      node,
      channels,
      signatures,
      clock,
      pubSub: () => this.#pubSub,
      onOversized: () => this.#receiver.drop('oversized'),
      onAbsent: (absent) => this.#requests.fail(`node ${absent} does not listen`, absent),
    });
    this.#pubSub = open([channels.everyone, channels.of(node)], {
      connected: () => void this.#connected(),
      disconnected: (reason) => this.#disconnected(reason),
      received: (channel, text) => this.#receiver.take(channel, text),
    });
    const { prefix } = channels;
    this.#sets = new RegistrySets({
      pubSub: this.#pubSub,
      prefix,
      expiryMs: timings.expiryMs,
      now: clock.elapsed,
      signatures,
      onForged: () => this.#receiver.drop('signature'),
    });
    this.registry = new NodeRegistry({
      node,
      sets: this.#sets,
      timings,
      clock,
      announce: (body) => this.#sender.toEveryone({ kind: REGISTRY, body }),
      lastSeenAt: (other) => this.#receiver.lastSeenAt(other),
    });
    this.registry.add(NODES);
    this.others = this.registry.follow([NODES]);
    this.on(REGISTRY, (body, from) => this.registry.announced(from, body));
    this.on(LEAVING, (_body, from) => this.registry.forget(from));
    this.on(ALIVE, () => undefined);
    this.#announceTimer = clock.setInterval(
      () => this.broadcast({ kind: ALIVE, body: null }),
      timings.renewMs,
    );
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
    this.#clock.clear(this.#announceTimer);
    this.broadcast({ kind: LEAVING, body: null });
    this.#sender.flush();
    await this.registry.close();
    this.#stop('the bus is closed');
    await this.#pubSub.close();
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

// Channel names: one channel per node, and one that all nodes read.

export class Channels {
  readonly prefix: string;
  readonly everyone: string;

  constructor(cluster: string) {
    this.prefix = `parlance:${cluster}:`;
    this.everyone = `${this.prefix}all`;
  }

  of(node: NodeId): string {
    return this.prefix + node;
  }

  /** Null for the channel that all nodes read. */
  nodeOf(channel: string): NodeId | null {
    return channel === this.everyone ? null : channel.slice(this.prefix.length);
  }
}

// Pending requests.

type Waiting = {
  readonly to: NodeId;
  readonly kind: string;
  readonly resolve: (body: unknown) => void;
  readonly reject: (error: NoAnswer) => void;
  readonly timer: ClockTimer;
};

const MAX_WAITING = 10_000;

export class Requests {
  readonly #waiting = new Map<number, Waiting>();
  #last = 0;

  constructor(private readonly clock: Clock) {}

  /** Returns the id of the request and its answer. */
  begin(to: NodeId, kind: string, timeoutMs: number): { id: number; answered: Promise<unknown> } {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const id = ++this.#last;
    if (this.#waiting.size >= MAX_WAITING) {
      reject(new NoAnswer('too many pending requests', 'no'));
      return { id, answered: promise };
    }
    const late = new NoAnswer(`no answer from node ${to} in ${timeoutMs} ms`, 'unknown');
    const timer = this.clock.setTimeout(() => this.#end(id)?.reject(late), timeoutMs);
    this.#waiting.set(id, { to, kind, resolve, reject, timer });
    return { id, answered: promise };
  }

  /** False if no request waits for this answer: it is late, or from a different node. */
  answer(from: NodeId, { kind, answer = 0, body, refused }: Item): boolean {
    const waiting = this.#waiting.get(answer);
    if (!waiting || waiting.to !== from || waiting.kind !== kind) return false;
    if (refused !== undefined) this.#end(answer)?.reject(new NoAnswer(refused, 'refused'));
    else this.#end(answer)?.resolve(body);
    return true;
  }

  /** Rejects all requests, or those to one node; they may have been handled. */
  fail(reason: string, to?: NodeId): void {
    for (const [id, waiting] of [...this.#waiting])
      if (to === undefined || waiting.to === to) this.#end(id)?.reject(new NoAnswer(reason, 'unknown'));
  }

  #end(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.clock.clear(waiting?.timer);
    this.#waiting.delete(id);
    return waiting;
  }
}

// Sends messages in batches.

export type SenderOptions = {
  readonly node: NodeId;
  readonly channels: Channels;
  readonly pubSub: () => PubSub;
  readonly signatures: Signatures;
  readonly clock: Clock;
  readonly onOversized: () => void;
  /** Called if nobody listens on that node. */
  readonly onAbsent: (node: NodeId) => void;
};

export class Sender {
  readonly #batches: SendBatches;

  constructor(private readonly options: SenderOptions) {
    const { node, channels, signatures, clock, pubSub, onOversized } = options;
    this.#batches = new SendBatches({
      from: node,
      everyone: channels.everyone,
      signatures,
      clock,
      now: () => pubSub().now(),
      publish: (channel, text) => this.#publish(channel, text),
      onOversized,
    });
  }

  /** Call after a connect: numbers start again, and nothing is pending. */
  restart(): void {
    this.#batches.restart();
  }

  clear(): void {
    this.#batches.clear();
  }

  toEveryone(item: Item): void {
    this.#batches.add(this.options.channels.everyone, encodeItem(item));
  }

  to(nodes: readonly NodeId[], item: Item): void {
    const text = encodeItem(item);
    for (const node of nodes) this.#batches.add(this.options.channels.of(node), text);
  }

  /** Sends immediately, for messages that a caller waits for. */
  atOnce(node: NodeId, item: Item): void {
    this.to([node], item);
    this.#batches.flush(this.options.channels.of(node));
  }

  flush(): void {
    this.#batches.flushAll();
  }

  #publish(channel: string, text: string): void {
    const { pubSub, channels, onAbsent } = this.options;
    const node = channels.nodeOf(channel);
    pubSub()
      .publish(channel, text)
      .then(
        (receivers) => {
          if (receivers === 0 && node !== null) onAbsent(node);
        },
        // The pub/sub service itself reports that it is disconnected.
        () => undefined,
      );
  }
}

// Outgoing messages, in one batch per channel. A batch is sent a few milliseconds after its first message, or
// when it is full. A batch for all nodes and batches for single nodes are never pending at the same time, so
// that each node receives both in order.

const FLUSH_MS = 5;
const FULL_BATCH = 64 * 1024;
/** Maximum size of a message. Larger ones are dropped, and their receivers detect the loss. */
const MAX_MESSAGE_LENGTH = 8 * 1024 * 1024;

type SendBatchesOptions = {
  readonly from: string;
  /** the channel that all nodes read */
  readonly everyone: string;
  readonly signatures: Signatures;
  readonly clock: Clock;
  /** the time of the pub/sub service */
  readonly now: () => number;
  readonly publish: (channel: string, text: string) => void;
  readonly onOversized: () => void;
};

type Pending = { readonly items: string[]; size: number };

class SendBatches {
  readonly #pending = new Map<string, Pending>();
  readonly #numbers = new Map<string, number>();
  #generation = 0;
  #timer: ClockTimer | null = null;

  constructor(private readonly options: SendBatchesOptions) {}

  /** Starts a new generation with nothing pending. */
  restart(): void {
    this.clear();
    this.#numbers.clear();
    this.#generation = Math.max(this.options.clock.now(), this.#generation + 1);
  }

  clear(): void {
    this.#pending.clear();
    this.options.clock.clear(this.#timer);
    this.#timer = null;
  }

  add(channel: string, item: string): void {
    const { everyone, clock } = this.options;
    if (channel === everyone) this.#flushSingle();
    else this.flush(everyone);
    if (item.length > MAX_MESSAGE_LENGTH) {
      this.#skip(channel);
      return;
    }
    let pending = this.#pending.get(channel);
    if (!pending) {
      pending = { items: [], size: 0 };
      this.#pending.set(channel, pending);
    }
    pending.items.push(item);
    pending.size += item.length;
    if (pending.size >= FULL_BATCH) this.flush(channel);
    else this.#timer ??= clock.setTimeout(() => this.flushAll(), FLUSH_MS);
  }

  flush(channel: string): void {
    const pending = this.#pending.get(channel);
    if (!pending) return;
    this.#pending.delete(channel);
    this.#publish(channel, pending.items);
  }

  flushAll(): void {
    this.#timer = null;
    for (const channel of [...this.#pending.keys()]) this.flush(channel);
  }

  #flushSingle(): void {
    const { everyone } = this.options;
    for (const channel of [...this.#pending.keys()]) if (channel !== everyone) this.flush(channel);
  }

  /** A missing number tells the receivers that a message was lost. */
  #skip(channel: string): void {
    this.options.onOversized();
    this.flush(channel);
    this.#stamp(channel);
    this.#publish(channel, []);
  }

  #publish(channel: string, items: readonly string[]): void {
    const { publish, signatures } = this.options;
    publish(channel, encodeBatch(this.#stamp(channel), items, { channel, signatures }));
  }

  #stamp(channel: string): Stamp {
    const number = (this.#numbers.get(channel) ?? 0) + 1;
    this.#numbers.set(channel, number);
    const { from, now } = this.options;
    return { from, generation: this.#generation, number, at: Math.ceil(now()) };
  }
}

// Validates incoming messages and dispatches them, in order, to the receiver of their kind.

export type Receive = (body: unknown, from: NodeId) => void;
export type Answer = (body: unknown, from: NodeId) => Json | Promise<Json>;

export type ReceiverOptions = {
  readonly node: NodeId;
  readonly log: Log;
  readonly meter: Meter;
  readonly signatures: Signatures;
  readonly requests: Requests;
  readonly now: () => number;
  /** the time of the pub/sub service */
  readonly pubSubNow: () => number;
  readonly reply: (to: NodeId, item: Item) => void;
  readonly onReceived: (from: NodeId) => void;
  readonly onLost: (from: NodeId) => void;
};

/**
 * A batch of a sender that this node does not know yet could be a recorded one. Longer than any delay of a node
 * that still counts as alive.
 */
const MAX_AGE_MS = 30_000;

export class Receiver {
  readonly #batches: ReceivedBatches;
  readonly #receivers = new Map<string, Receive>();
  readonly #answers = new Map<string, Answer>();

  constructor(private readonly options: ReceiverOptions) {
    this.#batches = new ReceivedBatches(options.now);
  }

  on(kind: string, receive: Receive): () => void {
    return register(this.#receivers, kind, receive);
  }

  respond(kind: string, answer: Answer): () => void {
    return register(this.#answers, kind, answer);
  }

  /** Call after a connect. */
  restart(): void {
    this.#batches.restart();
  }

  lastSeenAt(node: NodeId): number | undefined {
    return this.#batches.lastSeenAt(node);
  }

  take(channel: string, text: string): void {
    const { signatures, pubSubNow } = this.options;
    const batch = decodeBatch(text, { channel, signatures });
    if (typeof batch === 'string') this.drop(batch);
    else if (Math.abs(pubSubNow() - batch.at) > MAX_AGE_MS) this.drop('stale');
    else if (batch.from !== this.options.node) this.#takeBatch(channel, batch);
  }

  drop(reason: DropReason): void {
    this.options.meter.add('bus_dropped', reason);
  }

  #takeBatch(channel: string, batch: Batch): void {
    const order = this.#batches.take(channel, batch);
    if (order === 'repeated') {
      this.drop('repeated');
      return;
    }
    this.options.onReceived(batch.from);
    if (order === 'lost') this.options.onLost(batch.from);
    for (const item of batch.items) this.#takeItem(item, batch.from);
  }

  #takeItem(item: Item, from: NodeId): void {
    // A late answer is dropped and not counted.
    if (item.answer !== undefined) this.options.requests.answer(from, item);
    else if (item.request !== undefined) void this.#answer(item, item.request, from);
    else this.#hand(item, from);
  }

  #hand({ kind, body }: Item, from: NodeId): void {
    const receive = this.#receivers.get(kind);
    if (!receive) {
      this.drop('unhandled');
      return;
    }
    try {
      receive(body, from);
    } catch (thrown) {
      this.drop('invalid');
      this.options.log.error({ err: thrown, kind, from }, 'bus message failed');
    }
  }

  async #answer({ kind, body }: Item, request: number, from: NodeId): Promise<void> {
    const { reply, log } = this.options;
    try {
      const answer = this.#answers.get(kind);
      if (!answer) this.drop('unhandled');
      const result = await (answer ?? unknownKind)(body, from);
      reply(from, { kind, answer: request, body: result });
    } catch (thrown) {
      log.debug({ err: thrown, kind, from }, 'bus request refused');
      reply(from, { kind, answer: request, refused: thrown instanceof Error ? thrown.message : 'refused' });
    }
  }
}

const unknownKind: Answer = () => {
  throw new Error('this node does not handle requests of this kind');
};

function register<Value>(map: Map<string, Value>, kind: string, value: Value): () => void {
  if (map.has(kind)) throw new TypeError(`messages of kind ${kind} already have a receiver`);
  map.set(kind, value);
  return () => {
    if (map.get(kind) === value) map.delete(kind);
  };
}

// Detects repeated, late or missing batches by their numbers.

type SenderState = {
  generation: number;
  /** the last number per channel: what is not above it is a repetition */
  readonly numbers: Map<string, number>;
  /** the same since the last connect: what does not follow it is a loss */
  readonly consecutive: Map<string, number>;
  reconnected: boolean;
  at: number;
};

const MAX_SENDERS = 10_000;

class ReceivedBatches {
  readonly #senders = new Map<NodeId, SenderState>();

  constructor(private readonly now: () => number) {}

  /** Call after a reconnect: batches missed in between do not count as lost; recorded ones are still known. */
  restart(): void {
    for (const sender of this.#senders.values()) {
      sender.consecutive.clear();
      sender.reconnected = true;
    }
  }

  /** `lost`: earlier batches of the sender have not arrived. `repeated`: ignore the batch. */
  take(channel: string, { from, generation, number }: Stamp): 'next' | 'lost' | 'repeated' {
    const known = this.#senders.get(from) ?? this.#add(from, generation);
    const { numbers, consecutive } = known;
    if (generation < known.generation) return 'repeated';
    if (generation === known.generation && number <= (numbers.get(channel) ?? 0)) return 'repeated';
    let lost = number !== (consecutive.get(channel) ?? number - 1) + 1;
    if (generation > known.generation) {
      lost = !known.reconnected;
      known.generation = generation;
      numbers.clear();
      consecutive.clear();
    }
    numbers.set(channel, number);
    consecutive.set(channel, number);
    known.reconnected = false;
    known.at = this.now();
    return lost ? 'lost' : 'next';
  }

  /** When the last batch of the node was received. */
  lastSeenAt(node: NodeId): number | undefined {
    return this.#senders.get(node)?.at;
  }

  #add(node: NodeId, generation: number): SenderState {
    const [oldest] = this.#senders.keys();
    if (oldest !== undefined && this.#senders.size >= MAX_SENDERS) this.#senders.delete(oldest);
    const sender = {
      generation,
      numbers: new Map<string, number>(),
      consecutive: new Map<string, number>(),
      reconnected: false,
      at: this.now(),
    };
    this.#senders.set(node, sender);
    return sender;
  }
}
