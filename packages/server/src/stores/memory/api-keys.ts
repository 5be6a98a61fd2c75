import type { ApiKey } from '../../core/ports/api-keys.ts';
import { storable } from '../shared/text.ts';

export function memoryApiKeys(hasUser: (name: string) => boolean, removed: (id: string) => void) {
  const keys = new Map<string, ApiKey>();
  const of = (owner: string) => [...keys.values()].filter((key) => key.owner === storable(owner));

  return {
    find: (id: string): ApiKey | null => keys.get(storable(id)) ?? null,

    list: (owner?: string): ApiKey[] =>
      (owner === undefined ? [...keys.values()] : of(owner)).sort(
        (one, other) => one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1),
      ),

    add(key: ApiKey, max: number): 'added' | 'too_many' | 'no_user' {
      const [id, owner, name] = [storable(key.id), storable(key.owner), storable(key.name)];
      if (!hasUser(owner)) return 'no_user';
      if (of(owner).length >= max) return 'too_many';
      if (keys.has(id)) throw new Error('an API key with this id exists');
      keys.set(id, { ...key, id, owner, name, dialects: key.dialects?.map(storable) ?? null });
      return 'added';
    },

    remove(id: string, owner?: string): boolean {
      const found = keys.get(storable(id));
      if (!found || (owner !== undefined && found.owner !== storable(owner))) return false;
      keys.delete(found.id);
      removed(found.id);
      return true;
    },

    /** Does not notify: the caller removes the user in the same step. */
    removeOf(owner: string): void {
      for (const { id } of of(owner)) keys.delete(id);
    },

    used(times: ReadonlyMap<string, number>): void {
      for (const [id, at] of times) {
        const found = keys.get(storable(id));
        if (found) keys.set(found.id, { ...found, lastUsedAt: Math.max(at, found.lastUsedAt ?? at) });
      }
    },
  };
}
