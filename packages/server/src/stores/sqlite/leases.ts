/**
 * Leases of a store that only this process uses. Nodes opened on the same `LeaseTable` exclude each other.
 */

import {
  type Append,
  type SessionIndex,
  type SessionRef,
  type SessionStore,
  sessionKey,
} from '../../core/ports/event-store.ts';
import {
  type AppendAs,
  type Driver,
  type Lease,
  LeaseLost,
  type Leases,
  type NodeState,
} from '../../core/ports/lease.ts';
import { Listeners } from '../../lib/listeners.ts';

type HeldLease = { readonly lease: Lease; readonly node: Node };
type Node = {
  readonly id: string;
  readonly release: string;
  readonly startedAt: number;
  readonly onLost: Listeners<[lost: readonly SessionRef[] | 'all']>;
  alive: boolean;
};

/** The leases of all nodes of the table. */
export class LeaseTable {
  readonly nodes = new Set<Node>();
  readonly held = new Map<string, HeldLease>();
  /** one counter for all sessions, so that epochs are unique */
  epoch = 0;
}

/** Used by `withLeases` around an append. */
export type MemoryLeases = Leases & {
  nodes(): NodeState[];
  /** Throws `LeaseLost` if the append must not be written. */
  check(ref: SessionRef, as: AppendAs): void;
  /** Takes or releases the lease together with a written append. */
  settle(ref: SessionRef, as: AppendAs, hasWork: boolean): Driver | null;
  forget(ref: SessionRef): void;
  /** Lets other nodes take over the leases of this node. */
  close(): void;
};

/** Number of running sessions read at a time. */
const PAGE = 100;

export function openMemoryLeases(
  table: LeaseTable,
  store: Pick<SessionIndex, 'list'>,
  { release = '' }: { release?: string } = {},
): MemoryLeases {
  const node: Node = {
    id: crypto.randomUUID(),
    release,
    startedAt: Date.now(),
    onLost: new Listeners(),
    alive: true,
  };
  table.nodes.add(node);
  const holder = (ref: SessionRef): HeldLease | null => {
    const held = table.held.get(sessionKey(ref));
    return held?.node.alive ? held : null;
  };
  const heldHere = (ref: SessionRef): Lease | null => {
    const held = holder(ref);
    return held?.node === node ? held.lease : null;
  };
  const isCurrent = (lease: Lease) => heldHere(lease.ref)?.epoch === lease.epoch;
  const drop = (ref: SessionRef): void => {
    const held = holder(ref);
    if (table.held.delete(sessionKey(ref)) && held && held.node !== node) held.node.onLost.notify([ref]);
  };
  const take = (ref: SessionRef): Lease => {
    drop(ref);
    const lease = { ref, epoch: ++table.epoch };
    table.held.set(sessionKey(ref), { lease, node });
    return lease;
  };
  const driverOf = (ref: SessionRef): Driver | null => {
    const held = table.held.get(sessionKey(ref));
    return held ? { node: held.node.id, epoch: held.lease.epoch } : null;
  };

  return {
    node: node.id,
    healthy: true,
    async claim(ref) {
      return holder(ref) ? heldHere(ref) : take(ref);
    },
    async release(lease) {
      if (isCurrent(lease)) drop(lease.ref);
    },
    good: isCurrent,
    driverOf: async (ref) => driverOf(ref),
    async takeOver(limit) {
      const taken: Lease[] = [];
      let cursor: string | undefined;
      do {
        const page = await store.list({
          status: ['running'],
          archived: 'included',
          ephemeral: 'included',
          parent: 'included',
          limit: PAGE,
          cursor,
        });
        for (const { ref } of page.sessions) if (taken.length < limit && !holder(ref)) taken.push(take(ref));
        cursor = page.next ?? undefined;
      } while (cursor !== undefined && taken.length < limit);
      return taken;
    },
    onLost: node.onLost.add,
    nodes: () => [...table.nodes].map((one) => stateOf(one, table)),
    check(ref, as) {
      if (as.by === 'driver' && !isCurrent({ ref, epoch: as.epoch })) throw new LeaseLost(ref, as.epoch);
    },
    settle(ref, as, hasWork) {
      if (!hasWork) drop(ref);
      else if (as.by === 'command' && takes(as.take, holder(ref)) && !heldHere(ref)) take(ref);
      return driverOf(ref);
    },
    forget: drop,
    close() {
      node.alive = false;
      table.nodes.delete(node);
    },
  };
}

const takes = (take: Extract<AppendAs, { by: 'command' }>['take'], holder: HeldLease | null): boolean =>
  take === 'always' || (take === 'if-free' && !holder);

/** Nodes of one process need no heartbeat and no bus. */
const stateOf = (node: Node, { held }: LeaseTable): NodeState => ({
  id: node.id,
  release: node.release,
  home: null,
  startedAt: node.startedAt,
  leaseAge: null,
  alive: node.alive,
  bus: 'none',
  sessions: [...held.values()].filter((one) => one.node === node).length,
});

// Adds leases to a store that only this process uses.

const PLAIN: AppendAs = { by: 'command', take: 'never' };

/** A store without leases: `withLeases` adds `exclusively` and the driver. */
export type PlainStore = Omit<SessionStore, 'append' | 'exclusively'> & {
  append(...given: Parameters<Append>): Promise<unknown>;
};

/** Sessions under exclusive access, shared by all nodes of a process. */
export class ExclusiveSessions {
  readonly #held = new Map<string, Promise<unknown>>();

  get(key: string): Promise<unknown> | undefined {
    return this.#held.get(key);
  }

  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    for (let held = this.get(key); held; held = this.get(key)) await held;
    const run = work();
    this.#held.set(
      key,
      run.catch(() => undefined),
    );
    return run.finally(() => this.#held.delete(key));
  }
}

export function withLeases(
  store: PlainStore,
  leases: MemoryLeases,
  exclusive = new ExclusiveSessions(),
): SessionStore {
  const append: Append = async (...[expected, events, record, as = PLAIN]) => {
    leases.check(record.ref, as);
    const { last } = as;
    await store.append(expected, events, record, last === undefined ? PLAIN : { ...PLAIN, last });
    return leases.settle(record.ref, as, record.status === 'running');
  };
  return {
    ...store,
    append(...given) {
      const held = exclusive.get(sessionKey(given[2].ref));
      return held ? held.then(() => append(...given)) : append(...given);
    },
    exclusively: (ref, work) => exclusive.run(sessionKey(ref), () => work({ append, read: store.read })),
    async erase(ref) {
      const erased = await store.erase(ref);
      leases.forget(ref);
      return erased;
    },
    async close() {
      leases.close();
      await store.close();
    },
  };
}
