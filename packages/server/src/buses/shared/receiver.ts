/** Validates incoming messages and dispatches them, in order, to the receiver of their kind. */
import type { Json } from '@parlance/protocol';
import type { NodeId } from '../../core/ports/lease.ts';
import type { Log } from '../../core/ports/logger.ts';
import type { Meter } from '../../core/ports/meter.ts';
import { type Batch, type DropReason, decodeBatch, type Item, type Stamp } from './envelope.ts';

import type { Requests } from './requests.ts';
import type { Signatures } from './signatures.ts';

export type Receive = (body: unknown, from: NodeId) => void;
export type Answer = (body: unknown, from: NodeId) => Json | Promise<Json>;

export type ReceiverOptions = {
  readonly node: NodeId;
  readonly log: Log;
  readonly meter: Meter;
  readonly signatures: Signatures;
  readonly requests: Requests;
  readonly now: () => number;
  /** the time of the carrier */
  readonly carrierNow: () => number;
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

  heardAt(node: NodeId): number | undefined {
    return this.#batches.heardAt(node);
  }

  take(channel: string, text: string): void {
    const { signatures, carrierNow } = this.options;
    const batch = decodeBatch(text, { channel, signatures });
    if (typeof batch === 'string') this.drop(batch);
    else if (Math.abs(carrierNow() - batch.at) > MAX_AGE_MS) this.drop('stale');
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
  heardAt(node: NodeId): number | undefined {
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
