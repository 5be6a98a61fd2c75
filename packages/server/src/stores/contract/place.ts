/** Access of the contract to an implementation. */
import type { Store } from '../shared/joined.ts';
import type { EventOptions } from '../shared/stored-event.ts';

/** Location of a store's data: a folder, a schema. Initially empty. */
export interface Place {
  /** May be called again: after a close, or for a second store at the same place. */
  open(options?: EventOptions): Store | Promise<Store>;
  dispose(): void | Promise<void>;
}

export type Implementation = {
  readonly place: () => Place | Promise<Place>;
  /** Reason why data does not survive a close; durability tests are skipped with it. */
  readonly forgets?: string;
  /** Reason why none of its tests can run on this machine. */
  readonly skip?: string;
  /** How many appends may wait at once; more are refused as `overloaded`. */
  readonly mostWaiting?: number;
  /** Reason why only one node can use it; tests with two nodes are skipped with it. */
  readonly singleNode?: string;
};

/** Runs the test on a new store, which is closed and deleted afterwards. */
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
