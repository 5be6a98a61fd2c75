/** A store whose appends a test can count, delay and make fail. */
import type { DurableEvent } from '@parlance/protocol';
import type { SessionStore } from '../core/ports/event-store.ts';
import { openMemoryStore } from './stores/memory/store.ts';

export type HeldAppend = {
  /** resolves when an append is being held */
  readonly reached: Promise<void>;
  release(): void;
};

export type ControlledStore = SessionStore & {
  /** number of appends so far */
  readonly appends: () => number;
  /** Holds the next append, before it is written or before it is acknowledged. */
  hold(when: 'before' | 'after'): HeldAppend;
  /** The next `count` appends, or those that contain such an event, write nothing and reject. */
  fail(count: number, type?: DurableEvent['type']): void;
};

export function controlledStore(inner: SessionStore = openMemoryStore()): ControlledStore {
  let appends = 0;
  let failing: { left: number; type: DurableEvent['type'] | undefined } = { left: 0, type: undefined };
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
    fail(count, type) {
      failing = { left: count, type };
    },
    async append(...given) {
      const [, events] = given;
      appends++;
      const mine = held;
      held = null;
      if (mine?.when === 'before') {
        mine.reach();
        await mine.released;
      }
      const { left, type } = failing;
      if (left > 0 && (type === undefined || events.some((event) => event.type === type))) {
        failing = { left: left - 1, type };
        throw new Error('the disk is full');
      }
      const driver = await inner.append(...given);
      if (mine?.when === 'after') {
        mine.reach();
        await mine.released;
      }
      return driver;
    },
  };
}
