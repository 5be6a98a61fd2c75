/** Detects repeated, late or missing batches by their numbers. */
import type { NodeId } from '../../core/ports/lease.ts';
import type { Stamp } from './envelope.ts';

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

export class ReceivedBatches {
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
