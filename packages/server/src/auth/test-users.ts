/** A user store for the tests of this folder. */
import type { User, UserStore } from '../core/ports/users.ts';

export function usersInMemory(...given: User[]): UserStore & { readonly writes: User[] } {
  const byName = new Map(given.map((user) => [user.name, user]));
  const writes: User[] = [];
  return {
    writes,
    find: async (name) => byName.get(name) ?? null,
    everyone: async () => [...byName.values()].sort((left, right) => (left.name < right.name ? -1 : 1)),
    put: async (user) => {
      writes.push(user);
      byName.set(user.name, user);
    },
    remove: async (name) => byName.delete(name),
  };
}
