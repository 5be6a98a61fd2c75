/** A store of a process that is killed. */
import type { SessionStore } from '../core/ports/event-store.ts';

/** The process is killed with its append number `at`: before it is written, or before anyone knows that it was. */
export function mortalStore(
  store: SessionStore,
  at: number,
  when: 'before' | 'after',
): { readonly store: SessionStore; readonly dead: Promise<void> } {
  const dead = Promise.withResolvers<void>();
  let left = at;
  const never = new Promise<never>(() => undefined);
  return {
    dead: dead.promise,
    store: {
      ...store,
      append: async (...given) => {
        if (left-- > 0) return store.append(...given);
        if (left === -1 && when === 'after') await store.append(...given);
        dead.resolve();
        return never;
      },
    },
  };
}
