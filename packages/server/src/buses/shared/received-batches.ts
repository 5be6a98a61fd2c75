/** Detects repeated, late or missing batches by their numbers. */
import type { NodeId } from '../../core/ports/lease.ts';
import type { Stamp } from './envelope.ts';

type SenderState = { generation: number; readonly numbers: Map<string, number>; at: number };

/** Anyone with write access to the carrier can forge node ids. */
const MAX_SENDERS = 10_000;

export class ReceivedBatches {
  readonly #senders = new Map<NodeId, SenderState>();

  constructor(private readonly now: () => number) {}

  /** Call after a reconnect: batches missed in between do not count as lost. */
  restart(): void {
    this.#senders.clear();
  }

  /** `lost`: earlier batches of the sender have not arrived. `repeated`: ignore the batch. */
  take(channel: string, { from, generation, number }: Stamp): 'next' | 'lost' | 'repeated' {
    const known = this.#senders.get(from);
    if (!known) {
      if (this.#senders.size >= MAX_SENDERS) this.#forgetOldest();
      this.#senders.set(from, { generation, numbers: new Map([[channel, number]]), at: this.now() });
      return 'next';
    }
    if (generation < known.generation) return 'repeated';
    known.at = this.now();
    if (generation > known.generation) {
      known.generation = generation;
      known.numbers.clear();
      known.numbers.set(channel, number);
      return 'lost';
    }
    const last = known.numbers.get(channel) ?? number - 1;
    if (number <= last) return 'repeated';
    known.numbers.set(channel, number);
    return number === last + 1 ? 'next' : 'lost';
  }

  /** When the last batch of the node was received. */
  heardAt(node: NodeId): number | undefined {
    return this.#senders.get(node)?.at;
  }

  #forgetOldest(): void {
    for (const node of this.#senders.keys()) {
      this.#senders.delete(node);
      return;
    }
  }
}
