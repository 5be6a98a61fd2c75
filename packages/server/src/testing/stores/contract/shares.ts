import { expect, test } from 'bun:test';
import type { Share } from '../../../core/ports/event-store.ts';
import { begin, refOf } from './samples.ts';
import { type Implementation, withStore } from './store-location.ts';

const ref = refOf('ada', 'shared');

const shareOf = (id: string, changes: Partial<Share> = {}): Share => ({
  id,
  ref,
  hash: id.repeat(64).slice(0, 64),
  seq: 1,
  createdAt: 1_700_000_000_000,
  ...changes,
});

export function sharesContract(implementation: Implementation): void {
  test('a share is found unchanged, by its hash only', () =>
    withStore(implementation, async (store) => {
      await begin(store, ref);
      const share = shareOf('a', { seq: 7 });
      expect(await store.shares.add(share, 10)).toBe('added');
      expect(await store.shares.find(share.hash)).toEqual(share);
      for (const hash of ['a', '', '%', share.hash.toUpperCase()])
        expect(await store.shares.find(hash)).toBeNull();
    }));

  test('shares of a session are limited, and listed in order of creation', () =>
    withStore(implementation, async (store) => {
      const other = refOf('bob', 'shared');
      for (const one of [ref, other]) await begin(store, one);
      await store.shares.add(shareOf('b', { createdAt: 1 }), 2);
      await store.shares.add(shareOf('a', { createdAt: 2 }), 2);
      await store.shares.add(shareOf('d', { ref: other }), 2);
      expect(await store.shares.add(shareOf('c'), 2)).toBe('too_many');
      expect((await store.shares.list(ref)).map(({ id }) => id)).toEqual(['b', 'a']);
      expect((await store.shares.list(other)).map(({ id }) => id)).toEqual(['d']);
    }));

  test('a removed share is gone; one of another session is not removed', () =>
    withStore(implementation, async (store) => {
      await begin(store, ref);
      await store.shares.add(shareOf('a'), 10);
      expect(await store.shares.remove(refOf('bob', 'shared'), 'a')).toBe(false);
      expect(await store.shares.remove(ref, 'b')).toBe(false);
      expect(await store.shares.remove(ref, 'a')).toBe(true);
      expect(await store.shares.find(shareOf('a').hash)).toBeNull();
    }));

  test('a share requires a session and is removed with it', () =>
    withStore(implementation, async (store) => {
      expect(await store.shares.add(shareOf('a'), 10)).toBe('no_session');
      await begin(store, ref);
      await store.shares.add(shareOf('a'), 10);
      await store.erase(ref);
      expect(await store.shares.find(shareOf('a').hash)).toBeNull();
      await begin(store, ref);
      expect(await store.shares.list(ref)).toEqual([]);
    }));
}
