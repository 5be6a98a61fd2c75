/** Adds leases to a store that only this process uses. */
import { type Append, type EventStore, sessionKey } from '../../core/ports/event-store.ts';
import type { AppendAs } from '../../core/ports/lease.ts';
import type { MemoryLeases } from './leases.ts';

const PLAIN: AppendAs = { by: 'command', take: 'never' };

/** A store without leases: `withLeases` adds `exclusively` and the driver. */
export type PlainStore = Omit<EventStore, 'append' | 'exclusively'> & {
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
): EventStore {
  const append: Append = async (...[expected, events, record, as = PLAIN]) => {
    leases.check(record.ref, as);
    await store.append(expected, events, record);
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
