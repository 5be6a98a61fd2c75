import { expect, test } from 'bun:test';
import type { User } from '../../../accounts/store.ts';
import { type Implementation, withStore } from './store-location.ts';

const userOf = (name: string, changes: Partial<User> = {}): User => ({
  name,
  role: 'user',
  passwordHash: `$argon2id$v=19$${name}`,
  createdAt: 1_700_000_000_000,
  ...changes,
});

export function usersContract(implementation: Implementation): void {
  test('a stored user is found by its name only', () =>
    withStore(implementation, async (store) => {
      const ada = userOf('ada', { role: 'admin' });
      await store.put(ada);
      expect(await store.find('ada')).toMatchObject(ada);
      for (const name of ['Ada', 'ada ', 'ad', '', '%']) expect(await store.find(name)).toBeNull();
    }));

  test('putting a user with the same name replaces it', () =>
    withStore(implementation, async (store) => {
      await store.put(userOf('ada'));
      const changed = userOf('ada', { role: 'developer', passwordHash: 'other', createdAt: 5 });
      await store.put(changed);
      expect(await store.find('ada')).toMatchObject(changed);
      expect(await store.everyone()).toMatchObject([changed]);
    }));

  test('every change increments the token version, and a new user with an old name gets a new one', () =>
    withStore(implementation, async (store) => {
      const seen = new Set<string | undefined>();
      for (const role of ['user', 'user', 'admin', 'user'] as const) {
        await store.put(userOf('ada', { role }));
        seen.add((await store.find('ada'))?.tokenVersion);
      }
      await store.put(userOf('bob'));
      await store.remove('ada');
      await store.put(userOf('ada'));
      for (const { tokenVersion } of await store.everyone()) seen.add(tokenVersion);
      expect(seen.size).toBe(6);
      expect((await store.find('ada'))?.tokenVersion).not.toBe('');
    }));

  test('users are listed by name, in code point order', () =>
    withStore(implementation, async (store) => {
      expect(await store.everyone()).toEqual([]);
      const names = ['Zoe', 'ada', 'bob', 'émile', '～', '😀'];
      for (const name of ['bob', '😀', 'émile', 'ada', '～', 'Zoe']) await store.put(userOf(name));
      expect((await store.everyone()).map(({ name }) => name)).toEqual(names);
    }));

  test('a removed user is gone, and removing again reports that there was none', () =>
    withStore(implementation, async (store) => {
      await store.put(userOf('ada'));
      await store.put(userOf('bob'));
      expect(await store.remove('ada')).toBe(true);
      expect(await store.remove('ada')).toBe(false);
      expect(await store.find('ada')).toBeNull();
      expect(await store.everyone()).toMatchObject([userOf('bob')]);
    }));

  test('a name that is not valid Unicode finds the user stored under it', () =>
    withStore(implementation, async (store) => {
      await store.put(userOf('ada \ud83d'));
      expect((await store.find('ada \ud83d'))?.name).toBe('ada \ufffd');
      expect(await store.remove('ada \ud83d')).toBe(true);
    }));

  test('users and sessions do not mix in one store', () =>
    withStore(implementation, async (store) => {
      await store.put(userOf('ada'));
      expect(await store.list({ limit: 5 })).toEqual({ sessions: [], next: null });
      expect(await store.everyone()).toMatchObject([userOf('ada')]);
    }));
}
