/** Several nodes on one store, in one process. */

import { openMemoryNetwork } from '../buses/memory/transport.ts';
import type { EventStore } from '../core/ports/event-store.ts';
import type { Log } from '../core/ports/logger.ts';
import { LeaseTable, type MemoryLeases, openMemoryLeases } from '../stores/memory/leases.ts';
import { openMemoryStore } from '../stores/memory/store.ts';
import { ExclusiveSessions } from '../stores/memory/with-leases.ts';
import type { Line } from './scripted-provider.ts';
import { countingIds, type Stage, type StageOptions, setStage } from './stage.ts';

export type StageNode = Stage & {
  readonly leases: MemoryLeases;
  /** The process is gone: what it does afterwards reaches the store no more. */
  kill(): void;
  /** Nothing that it writes from now on is answered; it speaks with other nodes. */
  stall(): void;
  /** Without contact to the store for too long, or in contact again. */
  fence(healthy: boolean): void;
};

const SWEEP_MS = 5;
const ignore = () => undefined;
const QUIET: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore };

export class StageCluster {
  readonly store: EventStore = openMemoryStore();
  readonly network = openMemoryNetwork();
  readonly #table = new LeaseTable();
  readonly #exclusive = new ExclusiveSessions();
  readonly #ids = countingIds();

  async open(answers: readonly (readonly Line[])[], options: StageOptions = {}): Promise<StageNode> {
    let dead = false;
    let healthy = true;
    const never = new Promise<never>(() => undefined);
    const memory = openMemoryLeases(this.#table, this.store);
    const fences = new Set<(lost: 'all') => void>();
    const leases: MemoryLeases = {
      ...memory,
      get healthy() {
        return healthy;
      },
      good: (lease) => healthy && memory.good(lease),
      takeOver: async (limit) => (healthy && !dead ? memory.takeOver(limit) : []),
      onLost(listener) {
        const end = memory.onLost(listener);
        fences.add(listener);
        return () => {
          fences.delete(listener);
          end();
        };
      },
    };
    const transport = this.network.open(leases.node, { log: QUIET });
    const append: EventStore['append'] = (...given) =>
      dead || !healthy ? never : this.store.append(...given);
    const stage = await setStage(answers, {
      ids: this.#ids,
      ...options,
      store: { ...this.store, append },
      leases,
      exclusive: this.#exclusive,
      parts: { cluster: { sweepMs: SWEEP_MS, transport }, ...options.parts },
    });
    return {
      ...stage,
      leases,
      kill() {
        dead = true;
        memory.close();
        void transport.close();
      },
      stall() {
        dead = true;
      },
      fence(now) {
        healthy = now;
        if (!now) for (const listener of fences) listener('all');
      },
    };
  }
}
