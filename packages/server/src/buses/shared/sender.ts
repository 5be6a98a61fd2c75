/** Sends messages in batches. */
import type { NodeId } from '../../core/ports/lease.ts';
import type { Carrier } from './carrier.ts';
import type { Channels } from './channels.ts';
import { encodeBatch, encodeItem, type Item, type Stamp } from './envelope.ts';

import type { Signatures } from './signatures.ts';

export type SenderOptions = {
  readonly node: NodeId;
  readonly channels: Channels;
  readonly carrier: () => Carrier;
  readonly signatures: Signatures;
  readonly onOversized: () => void;
  /** Called if nobody listens on that node. */
  readonly onAbsent: (node: NodeId) => void;
};

export class Sender {
  readonly #batches: SendBatches;

  constructor(private readonly options: SenderOptions) {
    const { node, channels, signatures, carrier, onOversized } = options;
    this.#batches = new SendBatches({
      from: node,
      everyone: channels.everyone,
      signatures,
      now: () => carrier().now(),
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
    const { carrier, channels, onAbsent } = this.options;
    const node = channels.nodeOf(channel);
    carrier()
      .publish(channel, text)
      .then(
        (receivers) => {
          if (receivers === 0 && node !== null) onAbsent(node);
        },
        // The carrier itself reports that it is disconnected.
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
  /** the time of the carrier */
  readonly now: () => number;
  readonly publish: (channel: string, text: string) => void;
  readonly onOversized: () => void;
};

type Pending = { readonly items: string[]; size: number };

class SendBatches {
  readonly #pending = new Map<string, Pending>();
  readonly #numbers = new Map<string, number>();
  #generation = 0;
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(private readonly options: SendBatchesOptions) {}

  /** Starts a new generation with nothing pending. */
  restart(): void {
    this.clear();
    this.#numbers.clear();
    this.#generation = Math.max(Date.now(), this.#generation + 1);
  }

  clear(): void {
    this.#pending.clear();
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }

  add(channel: string, item: string): void {
    const { everyone } = this.options;
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
    else this.#timer ??= setTimeout(() => this.flushAll(), FLUSH_MS);
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
