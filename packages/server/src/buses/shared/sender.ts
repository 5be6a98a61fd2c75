/** Sends messages in batches. */
import type { NodeId } from '../../core/ports/lease.ts';
import type { Carrier } from './carrier.ts';
import type { Channels } from './channels.ts';
import { encodeItem, type Item } from './envelope.ts';
import { SendBatches } from './send-batches.ts';
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
