import { expect, test } from 'bun:test';
import type { Pairing, PairingRequest } from '../../../accounts/store.ts';
import { type Implementation, withStore } from './store-location.ts';

const userOf = (name: string) => ({ name, role: 'user', passwordHash: 'hash', createdAt: 1 }) as const;
const ORIGIN = `chrome-extension://${'a'.repeat(32)}`;

const extensionOf = (id: string) => ({
  id,
  hash: id.repeat(64).slice(0, 64),
  origin: ORIGIN,
  name: `extension ${id}`,
  createdAt: 1_700_000_000_000,
});

const requestOf = (id: string, changes: Partial<PairingRequest> = {}): PairingRequest => ({
  ...extensionOf(id),
  code: `CODE${id}`,
  expiresAt: 1_700_000_600_000,
  ...changes,
});

const pairingOf = (id: string, changes: Partial<Pairing> = {}): Pairing => ({
  ...extensionOf(id),
  owner: null,
  role: 'developer',
  key: null,
  allowedAt: 1_700_000_001_000,
  expiresAt: null,
  lastUsedAt: null,
  ...changes,
});

const idsOf = (all: readonly { readonly id: string }[]): string[] => all.map(({ id }) => id);

export function pairingsContract(implementation: Implementation): void {
  const { forgets } = implementation;
  const sharedTest = (title: string, run: () => Promise<void>) =>
    test.skipIf(forgets !== undefined)(
      forgets === undefined ? title : `${title} (not here: ${forgets})`,
      run,
    );

  test('a request is found by its id and its code, and can be taken once', () =>
    withStore(implementation, async ({ pairings }) => {
      const request = requestOf('a');
      expect(await pairings.request(request, 10)).toBe(true);
      expect(await pairings.findRequest('a')).toEqual(request);
      expect(await pairings.requestWith('CODEa')).toEqual(request);
      for (const code of ['', 'codea', 'CODE', '%', 'CODEb'])
        expect(await pairings.requestWith(code)).toBeNull();
      expect(await pairings.requests()).toEqual([request]);
      const taken = await Promise.all([pairings.takeRequest('a'), pairings.takeRequest('a')]);
      expect(taken.filter((one) => one !== null)).toEqual([request]);
      expect(await pairings.requests()).toEqual([]);
      expect(await pairings.find('a')).toBeNull();
    }));

  test('requests are limited in number, their codes are unique, and expired ones make room', () =>
    withStore(implementation, async ({ pairings }) => {
      expect(await pairings.request(requestOf('a'), 2)).toBe(true);
      expect(await pairings.request(requestOf('b', { code: 'CODEa' }), 2)).toBe(false);
      expect(await pairings.request(requestOf('b', { expiresAt: 1_700_000_900_000 }), 2)).toBe(true);
      expect(await pairings.request(requestOf('c'), 2)).toBe(false);
      expect(await pairings.request(requestOf('c', { createdAt: 1_700_000_600_000 }), 2)).toBe(true);
      expect(idsOf(await pairings.requests())).toEqual(['b', 'c']);
    }));

  test('pairings are listed in order of approval, of one owner or of all', () =>
    withStore(implementation, async (store) => {
      const { pairings } = store;
      await store.put(userOf('ada'));
      expect(await pairings.list()).toEqual([]);
      expect(await pairings.add(pairingOf('c', { allowedAt: 1, owner: 'ada', role: 'user' }))).toBe(true);
      expect(await pairings.add(pairingOf('b', { allowedAt: 2 }))).toBe(true);
      expect(await pairings.add(pairingOf('a', { allowedAt: 2, lastUsedAt: 5 }))).toBe(true);
      expect(idsOf(await pairings.list())).toEqual(['c', 'a', 'b']);
      expect(await pairings.list('ada')).toEqual([
        pairingOf('c', { allowedAt: 1, owner: 'ada', role: 'user' }),
      ]);
      expect(idsOf(await pairings.list(null))).toEqual(['a', 'b']);
      expect(await pairings.list('Ada')).toEqual([]);
      expect(await pairings.find('a')).toEqual(pairingOf('a', { allowedAt: 2, lastUsedAt: 5 }));
      await expect(pairings.add(pairingOf('a'))).rejects.toThrow();
    }));

  test('a pairing requires its user and is removed with it', () =>
    withStore(implementation, async (store) => {
      const { pairings } = store;
      expect(await pairings.add(pairingOf('a', { owner: 'ada' }))).toBe(false);
      await store.put(userOf('ada'));
      expect(await pairings.add(pairingOf('a', { owner: 'ada' }))).toBe(true);
      expect(await pairings.add(pairingOf('b'))).toBe(true);
      await store.put({ ...userOf('ada'), passwordHash: 'other' });
      expect(idsOf(await pairings.list('ada'))).toEqual(['a']);
      await store.remove('ada');
      expect(idsOf(await pairings.list())).toEqual(['b']);
    }));

  test('a pairing requires the API key that approved it and is removed with it', () =>
    withStore(implementation, async (store) => {
      const { pairings, apiKeys } = store;
      await store.put(userOf('ada'));
      const approved = pairingOf('a', { owner: 'ada', key: 'k', expiresAt: 1_800_000_000_000 });
      expect(await pairings.add(approved)).toBe(false);
      for (const id of ['k', 'other'])
        await apiKeys.add(
          {
            id,
            owner: 'ada',
            name: id,
            role: 'user',
            dialects: null,
            administration: false,
            hash: id,
            createdAt: 1,
            expiresAt: 1_800_000_000_000,
            lastUsedAt: null,
          },
          10,
        );
      expect(await pairings.add(approved)).toBe(true);
      expect(await pairings.find('a')).toEqual(approved);
      expect(await pairings.add(pairingOf('b', { owner: 'ada' }))).toBe(true);
      await apiKeys.remove('other');
      expect(idsOf(await pairings.list('ada'))).toEqual(['a', 'b']);
      await apiKeys.remove('k');
      expect(idsOf(await pairings.list('ada'))).toEqual(['b']);
    }));

  test('an origin is known while it has a pairing', () =>
    withStore(implementation, async ({ pairings }) => {
      await pairings.request(requestOf('r'), 10);
      expect(await pairings.hasOrigin(ORIGIN)).toBe(false);
      await pairings.add(pairingOf('a'));
      expect(await pairings.hasOrigin(ORIGIN)).toBe(true);
      expect(await pairings.hasOrigin(ORIGIN.slice(0, -1))).toBe(false);
      await pairings.remove('a');
      expect(await pairings.hasOrigin(ORIGIN)).toBe(false);
    }));

  test('a removed pairing is gone, and followers are notified; one of another owner is not removed', () =>
    withStore(implementation, async (store) => {
      const { pairings } = store;
      await store.put(userOf('ada'));
      await pairings.add(pairingOf('a', { owner: 'ada' }));
      await pairings.add(pairingOf('b'));
      let notified = 0;
      store.revocations.follow(() => void notified++);
      for (const [id, owner] of [
        ['a', null],
        ['a', 'bob'],
        ['b', 'ada'],
        ['nothing', null],
      ] as const)
        expect(await pairings.remove(id, owner)).toBe(false);
      expect(notified).toBe(0);
      expect(await pairings.remove('a', 'ada')).toBe(true);
      expect(await pairings.remove('b', null)).toBe(true);
      // A poll for changes of other nodes can find them once more.
      expect(notified).toBeGreaterThanOrEqual(2);
      expect(await pairings.list()).toEqual([]);
    }));

  test('the last use never moves backwards', () =>
    withStore(implementation, async ({ pairings }) => {
      await pairings.add(pairingOf('a'));
      await pairings.used(new Map([['a', 20]]));
      const later = new Map(Object.entries({ a: 10, nothing: 40 }));
      await pairings.used(later);
      await pairings.used(new Map());
      expect((await pairings.find('a'))?.lastUsedAt).toBe(20);
    }));

  sharedTest('a follower is notified if another process removes a pairing', () =>
    withStore(implementation, async (store, place) => {
      await store.pairings.add(pairingOf('a'));
      const other = await place.open();
      try {
        const { promise, resolve } = Promise.withResolvers<void>();
        store.revocations.follow(resolve);
        await other.pairings.remove('a');
        await promise;
        expect(await store.pairings.find('a')).toBeNull();
      } finally {
        await other.close();
      }
    }),
  );

  sharedTest('pairings and requests survive reopening', () =>
    withStore(implementation, async (store, place) => {
      await store.pairings.request(requestOf('r'), 10);
      await store.pairings.add(pairingOf('a'));
      await store.close();
      const again = await place.open();
      expect(await again.pairings.requests()).toEqual([requestOf('r')]);
      expect(await again.pairings.list()).toEqual([pairingOf('a')]);
      await again.close();
    }),
  );
}
