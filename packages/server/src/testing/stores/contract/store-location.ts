/** Access to an implementation under test. */
import type { Store } from '../../../stores/shared/store.ts';
import type { EventOptions } from '../../../stores/shared/stored-event.ts';

/** Location of a store's data: a folder, a schema. Initially empty. */
export interface StoreLocation {
  /** May be called again after a close, or for a second store on the same data. */
  open(options?: EventOptions): Store | Promise<Store>;
  dispose(): void | Promise<void>;
}

export type Implementation = {
  readonly place: () => StoreLocation | Promise<StoreLocation>;
  /** Reason why data does not survive a close; durability tests are skipped. */
  readonly forgets?: string;
  /** Reason why its tests cannot run on this machine. */
  readonly skip?: string;
  /** Maximum number of waiting appends; more are refused as `overloaded`. */
  readonly maxWaiting?: number;
  /** Reason why only one node can use it; tests with two nodes are skipped. */
  readonly singleNode?: string;
};

/** Runs the test on a new store, and closes and deletes it afterwards. */
export async function withStore(
  { place }: Implementation,
  run: (store: Store, place: StoreLocation) => Promise<void>,
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
