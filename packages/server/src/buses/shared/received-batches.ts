/** Notices batches that are repeated, late or missing, by their numbers. */
import type { NodeId } from '../../core/ports/lease.ts';
import type { Stamp } from './envelope.ts';

type Heard = { generation: number; readonly numbers: Map<string, number>; at: number };

/** Whoever can write to the carrier can invent nodes. */
const MOST_SENDERS = 10_000;

export class ReceivedBatches {
  readonly #senders = new Map<NodeId, Heard>();

  constructor(private readonly now: () => number) {}

  /** This node was disconnected: what was missed meanwhile is not counted as lost. */
  restart(): void {
    this.#senders.clear();
  }

  /** `lost`: earlier batches of the sender have not arrived. `repeated`: not to be handled. */
  take(channel: string, { from, generation, number }: Stamp): 'next' | 'lost' | 'repeated' {
    const known = this.#senders.get(from);
    if (!known) {
      if (this.#senders.size >= MOST_SENDERS) this.#forgetOldest();
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

  /** When a batch of the node was last received. */
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
