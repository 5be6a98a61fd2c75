/** A store whose appends a test can count, hold back and make fail. */
import type { EventStore } from '../core/ports/store.ts';
import { openMemoryStore } from '../stores/memory.ts';

export type Held = {
  /** resolves when an append has come that is being held */
  readonly reached: Promise<void>;
  release(): void;
};

export type ControlledStore = EventStore & {
  /** how many appends were asked for */
  readonly appends: () => number;
  /** Holds the next append, before it is written or before it is acknowledged. */
  hold(when: 'before' | 'after'): Held;
  /** The next `count` appends write nothing and reject. */
  fail(count: number): void;
};

export function controlledStore(inner: EventStore = openMemoryStore()): ControlledStore {
  let appends = 0;
  let failures = 0;
  let held: { when: 'before' | 'after'; reach: () => void; released: Promise<void> } | null = null;
  return {
    ...inner,
    appends: () => appends,
    hold(when) {
      const reached = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      held = { when, reach: reached.resolve, released: released.promise };
      return { reached: reached.promise, release: released.resolve };
    },
    fail(count) {
      failures = count;
    },
    async append(...given) {
      appends++;
      const mine = held;
      held = null;
      if (mine?.when === 'before') {
        mine.reach();
        await mine.released;
      }
      if (failures > 0) {
        failures--;
        throw new Error('the disk is full');
      }
      await inner.append(...given);
      if (mine?.when === 'after') {
        mine.reach();
        await mine.released;
      }
    },
  };
}
