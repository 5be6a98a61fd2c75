/** Steps of code that only awaits promises: one tick is one run of the microtask queue. */
import type { SessionStore } from '../core/ports/event-store.ts';

export async function ticks(count: number): Promise<void> {
  for (let tick = 0; tick < count; tick++) await null;
}

/** Resolves when all pending microtasks are done. */
export const quiet = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The store, with this many ticks between a write and its acknowledgement. */
export const delayed = (store: SessionStore, appendTicks: number, readTicks: number): SessionStore => ({
  ...store,
  async append(...given) {
    const driver = await store.append(...given);
    await ticks(appendTicks);
    return driver;
  },
  async read(...given) {
    const events = await store.read(...given);
    await ticks(readTicks);
    return events;
  },
});
