import { expect, test } from 'bun:test';
import type { ApiKey } from '../../../accounts/store.ts';
import { type Implementation, withStore } from './store-location.ts';

const userOf = (name: string) => ({ name, role: 'user', passwordHash: 'hash', createdAt: 1 }) as const;

const keyOf = (id: string, changes: Partial<ApiKey> = {}): ApiKey => ({
  id,
  owner: 'ada',
  name: `key ${id}`,
  role: 'developer',
  dialects: null,
  administration: false,
  hash: id.repeat(64).slice(0, 64),
  createdAt: 1_700_000_000_000,
  expiresAt: null,
  lastUsedAt: null,
  ...changes,
});

const idsOf = (keys: readonly ApiKey[]): string[] => keys.map(({ id }) => id);

export function apiKeysContract(implementation: Implementation): void {
  const { forgets } = implementation;
  const sharedTest = (title: string, run: () => Promise<void>) =>
    test.skipIf(forgets !== undefined)(
      forgets === undefined ? title : `${title} (not here: ${forgets})`,
      run,
    );

  test('an added key is found unchanged, by its id only', () =>
    withStore(implementation, async (store) => {
      await store.put(userOf('ada'));
      const key = keyOf('a', {
        dialects: ['one', 'two'],
        expiresAt: 1_800_000_000_000,
        role: 'admin',
        administration: true,
      });
      expect(await store.apiKeys.add(key, 10)).toBe('added');
      expect(await store.apiKeys.add(keyOf('b', { dialects: [] }), 10)).toBe('added');
      expect(await store.apiKeys.find('a')).toEqual(key);
      expect((await store.apiKeys.find('b'))?.dialects).toEqual([]);
      for (const id of ['A', 'a ', '', '%', 'ab']) expect(await store.apiKeys.find(id)).toBeNull();
    }));

  test('a duplicate id is refused, and the first key is kept', () =>
    withStore(implementation, async (store) => {
      await store.put(userOf('ada'));
      await store.apiKeys.add(keyOf('a'), 10);
      await expect(store.apiKeys.add(keyOf('a', { name: 'other' }), 10)).rejects.toThrow();
      expect(await store.apiKeys.list()).toEqual([keyOf('a')]);
    }));

  test('keys are listed in order of creation, of one owner or of all', () =>
    withStore(implementation, async (store) => {
      await store.put(userOf('ada'));
      await store.put(userOf('bob'));
      expect(await store.apiKeys.list()).toEqual([]);
      await store.apiKeys.add(keyOf('c', { createdAt: 1 }), 10);
      await store.apiKeys.add(keyOf('b', { createdAt: 2 }), 10);
      await store.apiKeys.add(keyOf('a', { createdAt: 2 }), 10);
      await store.apiKeys.add(keyOf('d', { createdAt: 1, owner: 'bob' }), 10);
      expect(idsOf(await store.apiKeys.list())).toEqual(['c', 'd', 'a', 'b']);
      expect(idsOf(await store.apiKeys.list('ada'))).toEqual(['c', 'a', 'b']);
      expect(idsOf(await store.apiKeys.list('bob'))).toEqual(['d']);
      expect(await store.apiKeys.list('Ada')).toEqual([]);
    }));

  test('the number of keys per owner is limited, also under concurrency', () =>
    withStore(implementation, async (store) => {
      await store.put(userOf('ada'));
      await store.put(userOf('bob'));
      const added = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((id) => store.apiKeys.add(keyOf(id), 3)));
      expect(added.sort()).toEqual(['added', 'added', 'added', 'too_many', 'too_many']);
      expect((await store.apiKeys.list()).length).toBe(3);
      expect(await store.apiKeys.add(keyOf('f', { owner: 'bob' }), 3)).toBe('added');
    }));

  test('a key requires a user and is removed with it: a new user with that name has none', () =>
    withStore(implementation, async (store) => {
      expect(await store.apiKeys.add(keyOf('a'), 10)).toBe('no_user');
      await store.put(userOf('ada'));
      await store.put(userOf('bob'));
      await store.apiKeys.add(keyOf('a'), 10);
      await store.apiKeys.add(keyOf('b', { owner: 'bob' }), 10);
      await store.put({ ...userOf('ada'), passwordHash: 'other' });
      expect(idsOf(await store.apiKeys.list('ada'))).toEqual(['a']);
      await store.remove('ada');
      expect(await store.apiKeys.find('a')).toBeNull();
      await store.put(userOf('ada'));
      expect(idsOf(await store.apiKeys.list())).toEqual(['b']);
    }));

  test('a removed key is gone; one of another owner is not removed', () =>
    withStore(implementation, async (store) => {
      await store.put(userOf('ada'));
      for (const id of ['a', 'b']) await store.apiKeys.add(keyOf(id), 10);
      expect(await store.apiKeys.remove('a', 'bob')).toBe(false);
      expect(await store.apiKeys.remove('a', 'ada')).toBe(true);
      expect(await store.apiKeys.remove('a', 'ada')).toBe(false);
      expect(await store.apiKeys.remove('nothing')).toBe(false);
      expect(idsOf(await store.apiKeys.list())).toEqual(['b']);
      expect(await store.apiKeys.remove('b')).toBe(true);
      expect(await store.apiKeys.list()).toEqual([]);
    }));

  test('the last use of a key never moves backwards', () =>
    withStore(implementation, async (store) => {
      await store.put(userOf('ada'));
      for (const id of ['a', 'b']) await store.apiKeys.add(keyOf(id), 10);
      const used = async () => (await store.apiKeys.list()).map(({ lastUsedAt }) => lastUsedAt);
      await store.apiKeys.used(new Map([['a', 20]]));
      expect(await used()).toEqual([20, null]);
      const later = new Map(Object.entries({ a: 10, b: 30, nothing: 40 }));
      await store.apiKeys.used(later);
      await store.apiKeys.used(new Map());
      expect(await used()).toEqual([20, 30]);
    }));

  test('a follower is notified of removed keys', () =>
    withStore(implementation, async (store) => {
      await store.put(userOf('ada'));
      await store.apiKeys.add(keyOf('a'), 10);
      let notified = 0;
      store.revocations.follow(() => void notified++);
      await store.apiKeys.remove('nothing');
      expect(notified).toBe(0);
      await store.apiKeys.remove('a');
      expect(notified).toBe(1);
    }));

  sharedTest('a follower is notified if another process removes a key', () =>
    withStore(implementation, async (store, place) => {
      await store.put(userOf('ada'));
      await store.apiKeys.add(keyOf('a'), 10);
      const other = await place.open();
      try {
        const { promise, resolve } = Promise.withResolvers<void>();
        store.revocations.follow(resolve);
        await other.apiKeys.remove('a');
        await promise;
        expect(await store.apiKeys.find('a')).toBeNull();
      } finally {
        await other.close();
      }
    }),
  );

  sharedTest('keys and their last use survive reopening', () =>
    withStore(implementation, async (store, place) => {
      await store.put(userOf('ada'));
      await store.apiKeys.add(keyOf('a', { dialects: ['one'] }), 10);
      await store.apiKeys.used(new Map([['a', 5]]));
      await store.close();
      const again = await place.open();
      expect(await again.apiKeys.list()).toEqual([keyOf('a', { dialects: ['one'], lastUsedAt: 5 })]);
      await again.close();
    }),
  );
}
