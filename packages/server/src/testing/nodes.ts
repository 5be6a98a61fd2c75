/** Several nodes on one store, in one process. */

import { Fault } from '@parlance/protocol';
import { openMemoryNetwork } from '../cluster/memory-transport.ts';
import { joinCluster } from '../cluster/remote-network.ts';
import type { Transport } from '../cluster/transport.ts';
import type { SessionStore } from '../core/ports/event-store.ts';
import type { Log } from '../core/ports/telemetry.ts';
import {
  ExclusiveSessions,
  LeaseTable,
  type MemoryLeases,
  openMemoryLeases,
  withLeases,
} from '../stores/sqlite/leases.ts';
import { countingIds, createHarness, type Harness, type HarnessOptions } from './harness.ts';
import type { Line } from './scripted-provider.ts';
import { openMemoryStore } from './stores/memory/store.ts';

export type HarnessNode = Harness & {
  readonly leases: MemoryLeases;
  readonly transport: Transport;
  /** Kills the process: its later writes no longer reach the store. */
  kill(): void;
  /** Lets other nodes take over its sessions before it notices. */
  replace(): void;
  /** Makes the store refuse its next appends. */
  refuse(appends: number): void;
  /** Makes the store refuse its next reads of events. */
  refuseReads(reads: number): void;
  /** number of refused reads */
  readonly refusedReads: () => number;
  /** Never responds to its writes from now on; the bus still works. */
  stall(): void;
  /** Fences the node, or ends the fence. */
  fence(healthy: boolean): void;
};

const SWEEP_MS = 5;
const ignore = () => undefined;
const QUIET: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore };

export class HarnessCluster {
  readonly store: SessionStore = openMemoryStore();
  readonly network = openMemoryNetwork();
  readonly #table = new LeaseTable();
  readonly #exclusive = new ExclusiveSessions();
  readonly #living = new Set<string>();
  readonly #failovers = new Set<() => void>();
  readonly #ids = countingIds();

  /** `latencyMs`: latency of each direction to the store; none by default. */
  constructor(private readonly latencyMs?: () => number) {}

  /** Simulates a failover of the store. */
  failover(): void {
    for (const listener of this.#failovers) listener();
  }

  async livingNodes(): Promise<ReadonlySet<string>> {
    return this.#living;
  }

  async open(answers: readonly (readonly Line[])[], options: HarnessOptions = {}): Promise<HarnessNode> {
    let dead = false;
    let healthy = true;
    let replaced = false;
    let outage = 0;
    let unread = 0;
    let refusedReads = 0;
    const never = new Promise<never>(() => undefined);
    const memory = openMemoryLeases(this.#table, this.store);
    const fences = new Set<(lost: 'all') => void>();
    const leases: MemoryLeases = {
      ...memory,
      get healthy() {
        return healthy;
      },
      good: (lease) => healthy && (replaced || memory.good(lease)),
      takeOver: async (limit) => (healthy && !dead ? memory.takeOver(limit) : []),
      onLost(listener) {
        const end = memory.onLost((lost) => replaced || listener(lost));
        fences.add(listener);
        return () => {
          fences.delete(listener);
          end();
        };
      },
    };
    this.#living.add(leases.node);
    const transport = this.network.open(leases.node, { log: QUIET });
    const append: SessionStore['append'] = async (...given) => {
      if (dead) return never;
      if (!healthy || outage-- > 0) throw new Fault('storage_unavailable', 'The store does not answer.');
      return this.store.append(...given);
    };
    const read: SessionStore['read'] = async (...given) => {
      if (unread-- <= 0) return this.store.read(...given);
      refusedReads++;
      throw new Fault('storage_unavailable', 'The store does not answer.');
    };
    const killed = Promise.withResolvers<never>();
    killed.promise.catch(ignore);
    const plain = withLeases({ ...this.store, append, read }, leases, this.#exclusive);
    const leased: SessionStore = {
      ...plain,
      // The lock of a dead node is released.
      exclusively: (ref, work) => plain.exclusively(ref, (log) => Promise.race([work(log), killed.promise])),
    };
    const harness = await createHarness(answers, {
      ids: this.#ids,
      ...options,
      store: { ...this.store, append, read },
      leases,
      exclusive: this.#exclusive,
      parts: {
        cluster: {
          sweepMs: SWEEP_MS,
          transport,
          join: (member) => joinCluster({ ...member, transport }),
          livingNodes: () => this.livingNodes(),
          onFailover: (listener) => {
            this.#failovers.add(listener);
            return () => this.#failovers.delete(listener);
          },
        },
        ...(this.latencyMs ? { store: distant(leased, this.latencyMs) } : {}),
        ...options.parts,
      },
    });
    const living = this.#living;
    return {
      ...harness,
      leases,
      transport,
      kill() {
        dead = true;
        living.delete(memory.node);
        killed.reject(new Error('killed'));
        memory.close();
        void transport.close();
      },
      replace() {
        replaced = true;
        memory.close();
      },
      refuse(appends) {
        outage = appends;
      },
      refuseReads(reads) {
        unread = reads;
      },
      refusedReads: () => refusedReads,
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

/** Delays requests and responses. */
function distant(store: SessionStore, latencyMs: () => number): SessionStore {
  const way = () => new Promise<void>((resolve) => setTimeout(resolve, latencyMs()));
  const late =
    <Given extends unknown[], Result>(ask: (...given: Given) => Promise<Result>) =>
    async (...given: Given): Promise<Result> => {
      await way();
      return ask(...given).finally(way);
    };
  return {
    ...store,
    append: late(store.append),
    read: late(store.read),
    head: late(store.head),
    heads: late(store.heads),
    load: late(store.load),
    exclusively: late(store.exclusively) as SessionStore['exclusively'],
  };
}
