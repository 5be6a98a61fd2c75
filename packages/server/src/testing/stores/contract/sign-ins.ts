import { expect, test } from 'bun:test';
import type { Rotation, SignIn } from '../../../accounts/store.ts';
import type { Store } from '../../../stores/shared/store.ts';
import { type Implementation, withStore } from './store-location.ts';

const userOf = (name: string) => ({ name, role: 'user', passwordHash: 'hash', createdAt: 1 }) as const;

async function versionOf(store: Store, name: string): Promise<string> {
  await store.put(userOf(name));
  return String((await store.find(name))?.tokenVersion);
}

const signInOf = (id: string, tokenVersion: string, changes: Partial<SignIn> = {}): SignIn => ({
  ...{ id, tokenVersion, owner: 'ada', keyHash: `key of ${id}`, hash: `hash of ${id}`, previousHash: null },
  ...{ seen: false, createdAt: 1_000, rotatedAt: 1_000, expiresAt: 1_800_000_000_000 },
  ...changes,
});

const rotation: Rotation = { hash: 'new', previousHash: 'hash of a', rotatedAt: 2_000, expiresAt: 3_000 };

export function signInsContract(implementation: Implementation): void {
  const { forgets } = implementation;

  test('a sign-in is found unchanged, by its id only', () =>
    withStore(implementation, async (store) => {
      const signIn = signInOf('a', await versionOf(store, 'ada'), { previousHash: 'before', seen: true });
      expect(await store.signIns.add(signIn, 10)).toBe(true);
      expect(await store.signIns.find('a')).toEqual(signIn);
      for (const id of ['A', 'a ', '', '%']) expect(await store.signIns.find(id)).toBeNull();
      await expect(store.signIns.add({ ...signIn, hash: 'other' }, 10)).rejects.toThrow();
      expect(await store.signIns.find('a')).toEqual(signIn);
    }));

  test('a sign-in requires the user as it was, and is removed with it', () =>
    withStore(implementation, async (store) => {
      expect(await store.signIns.add(signInOf('a', 'version'), 10)).toBe(false);
      const old = await versionOf(store, 'ada');
      const version = await versionOf(store, 'ada');
      expect(await store.signIns.add(signInOf('a', old), 10)).toBe(false);
      expect(await store.signIns.add(signInOf('a', version), 10)).toBe(true);
      await store.remove('ada');
      await store.put(userOf('ada'));
      expect(await store.signIns.find('a')).toBeNull();
    }));

  test('a new sign-in removes those of its owner that have ended, and the oldest beyond the limit', () =>
    withStore(implementation, async (store) => {
      const { signIns } = store;
      const bobs = await versionOf(store, 'bob');
      await signIns.add(signInOf('of bob', bobs, { owner: 'bob', expiresAt: 1_001 }), 3);
      await signIns.add(signInOf('changed', await versionOf(store, 'ada')), 3);
      const version = await versionOf(store, 'ada');
      await signIns.add(signInOf('expired', version, { createdAt: 1_001, expiresAt: 1_002 }), 3);
      for (const [index, id] of ['a', 'b', 'c', 'd'].entries())
        await signIns.add(signInOf(id, version, { createdAt: 1_002 + index }), 3);
      const found = ['of bob', 'changed', 'expired', 'a', 'b', 'c', 'd'].map(async (id) =>
        (await signIns.find(id)) === null ? [] : [id],
      );
      expect((await Promise.all(found)).flat()).toEqual(['of bob', 'b', 'c', 'd']);
    }));

  test('a secret is replaced once, also under concurrency', () =>
    withStore(implementation, async (store) => {
      const { signIns } = store;
      const signIn = signInOf('a', await versionOf(store, 'ada'), { seen: true });
      await signIns.add(signIn, 10);
      const hashes = ['one', 'two', 'three'];
      const replaced = await Promise.all(
        hashes.map((hash) => signIns.rotate('a', 'hash of a', { ...rotation, hash })),
      );
      expect(replaced.filter(Boolean)).toEqual([true]);
      const hash = String(hashes[replaced.indexOf(true)]);
      expect(await signIns.find('a')).toEqual({ ...signIn, ...rotation, hash, seen: false });
      expect(await signIns.rotate('b', 'hash of a', rotation)).toBe(false);
    }));

  test('only a request with the current secret marks it as seen', () =>
    withStore(implementation, async (store) => {
      const { signIns } = store;
      await signIns.add(signInOf('a', await versionOf(store, 'ada')), 10);
      await signIns.markSeen('a', 'another hash');
      expect((await signIns.find('a'))?.seen).toBe(false);
      await signIns.markSeen('a', 'hash of a');
      expect((await signIns.find('a'))?.seen).toBe(true);
    }));

  test('a removal is reported to followers, and a secret of a removed sign-in is not replaced', () =>
    withStore(implementation, async (store) => {
      const { signIns } = store;
      await signIns.add(signInOf('a', await versionOf(store, 'ada')), 10);
      let changes = 0;
      store.revocations.follow(() => changes++);
      expect(await signIns.remove('a')).toBe(true);
      expect(changes).toBe(1);
      expect(await signIns.remove('a')).toBe(false);
      expect(await signIns.rotate('a', 'hash of a', rotation)).toBe(false);
      expect(await signIns.find('a')).toBeNull();
    }));

  const title = 'sign-ins survive reopening';
  test.skipIf(forgets !== undefined)(forgets === undefined ? title : `${title} (not here: ${forgets})`, () =>
    withStore(implementation, async (store, place) => {
      const signIn = signInOf('a', await versionOf(store, 'ada'));
      await store.signIns.add(signIn, 10);
      await store.close();
      const again = await place.open();
      expect(await again.signIns.find('a')).toEqual(signIn);
      await again.close();
    }),
  );
}
