import { expect, setSystemTime, test } from 'bun:test';
import { type Implementation, withStore } from './store-location.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const ada = { name: 'ada', role: 'user', passwordHash: 'hash', createdAt: 1 } as const;

export function revocationsContract(implementation: Implementation): void {
  const { forgets } = implementation;
  const sharedTest = (title: string, run: () => Promise<void>) =>
    test.skipIf(forgets !== undefined)(
      forgets === undefined ? title : `${title} (not here: ${forgets})`,
      run,
    );

  test('only revoked ids are revoked; revoking again changes nothing', () =>
    withStore(implementation, async ({ revocations }) => {
      await revocations.add('one', Date.now() + HOUR);
      await revocations.add('one', Date.now() - HOUR);
      await revocations.add('two', Date.now() + HOUR);
      expect(await Promise.all(['one', 'two', 'One', ''].map((id) => revocations.has(id)))).toEqual([
        true,
        true,
        false,
        false,
      ]);
    }));

  test('an old revocation is removed when another is added', () =>
    withStore(implementation, async ({ revocations }) => {
      await revocations.add('old', Date.now() - 31 * DAY);
      expect(await revocations.list()).toEqual([]);
      const until = Date.now() + HOUR;
      await revocations.add('new', until);
      expect([await revocations.has('old'), await revocations.has('new')]).toEqual([false, true]);
      expect(await revocations.list()).toEqual([{ id: 'new', until }]);
    }));

  test('a clock that is days ahead for a while ends no revocation', () =>
    withStore(implementation, async ({ revocations }) => {
      await revocations.add('one', Date.now() + HOUR);
      try {
        setSystemTime(Date.now() + 5 * DAY);
        await revocations.add('two', Date.now() + HOUR);
      } finally {
        setSystemTime();
      }
      expect(await revocations.has('one')).toBe(true);
    }));

  test('a follower is notified of users changed or removed here until it unsubscribes', () =>
    withStore(implementation, async (store) => {
      let notified = 0;
      const end = store.revocations.follow(() => void notified++);
      await store.put(ada);
      await store.remove('nobody');
      await store.remove('ada');
      expect(notified).toBe(2);
      end();
      await store.put(ada);
      expect(notified).toBe(2);
    }));

  sharedTest('a follower is notified of changes by another process, and sees them', () =>
    withStore(implementation, async (store, place) => {
      const other = await place.open();
      try {
        for (const change of [
          () => other.put(ada),
          () => other.revocations.add('one', Date.now() + HOUR),
          () => other.remove('ada'),
        ]) {
          const { promise, resolve } = Promise.withResolvers<void>();
          const end = store.revocations.follow(resolve);
          await change();
          await promise;
          end();
        }
        expect(await store.revocations.has('one')).toBe(true);
        expect(await store.find('ada')).toBeNull();
      } finally {
        await other.close();
      }
    }),
  );
}
