/**
 * Outgoing messages, in one batch per channel. A batch is sent a few milliseconds after its first message, or
 * when it is full. A batch for all nodes and batches for single nodes are never pending at the same time, so
 * that each node receives both in order.
 */
import { encodeBatch, type Stamp } from './envelope.ts';
import type { Signatures } from './signatures.ts';

const FLUSH_MS = 5;
const FULL_BATCH = 64 * 1024;
/** Maximum size of a message. Larger ones are dropped, and their receivers detect the loss. */
export const MAX_MESSAGE_LENGTH = 8 * 1024 * 1024;

export type SendBatchesOptions = {
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

export class SendBatches {
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
