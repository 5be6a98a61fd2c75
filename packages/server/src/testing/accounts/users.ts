/** In-memory users and revocations for the tests in this folder. */
import type { RevocationStore, StoredUser, User, UserStore } from '../../accounts/store.ts';

const kept = (user: User): StoredUser => ({ ...user, tokenVersion: crypto.randomUUID() });

export function usersInMemory(...given: User[]): UserStore & { readonly writes: User[] } {
  const byName = new Map(given.map((user) => [user.name, kept(user)]));
  const writes: User[] = [];
  return {
    writes,
    find: async (name) => byName.get(name) ?? null,
    everyone: async () => [...byName.values()].sort((left, right) => (left.name < right.name ? -1 : 1)),
    put: async (user) => {
      writes.push(user);
      byName.set(user.name, kept(user));
    },
    remove: async (name) => byName.delete(name),
  };
}

/** `notify` simulates a change by another process. */
export function revocationsInMemory(mayKeep?: () => boolean): RevocationStore & { notify(): void } {
  const ids = new Map<string, number>();
  const followers = new Set<() => void>();
  return {
    mayKeep,
    add: async (id, until) => void ids.set(id, until),
    has: async (id) => ids.has(id),
    list: async () => [...ids].map(([id, until]) => ({ id, until })),
    follow: (changed) => {
      followers.add(changed);
      return () => void followers.delete(changed);
    },
    notify: () => {
      for (const changed of followers) changed();
    },
  };
}
