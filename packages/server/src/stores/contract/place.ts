/** How the contract gets at an implementation. */
import type { Store } from '../shared/joined.ts';
import type { EventOptions } from '../shared/stored-event.ts';

/** Where a store keeps what it is given: a folder, a schema. Empty at first. */
export interface Place {
  /** May be called again: after a close, or for a second store beside the first. */
  open(options?: EventOptions): Store | Promise<Store>;
  dispose(): void | Promise<void>;
}

export type Implementation = {
  readonly place: () => Place | Promise<Place>;
  /** Why it does not keep its promises beyond a close; the tests of durability are skipped by that name. */
  readonly forgets?: string;
};

/** Runs the test on a store of its own, which is closed and gone afterwards. */
export async function withStore(
  { place }: Implementation,
  run: (store: Store, place: Place) => Promise<void>,
  options?: EventOptions,
): Promise<void> {
  const where = await place();
  try {
    const store = await where.open(options);
    try {
      await run(store, where);
    } finally {
      await store.close();
    }
  } finally {
    await where.dispose();
  }
}
