import { expect, test } from 'bun:test';
import { begin, idsOf, recordOf, refOf, textEvents } from './samples.ts';
import { type Implementation, withStore } from './store-location.ts';

export function erasingContract(implementation: Implementation): void {
  const [gone, other] = [refOf('ada', 'gone'), refOf('bob', 'gone')];

  test('an erased session is gone everywhere, and other sessions are unaffected', () =>
    withStore(implementation, async (store) => {
      for (const ref of [gone, other]) {
        await begin(store, ref, {});
        await store.append(1, textEvents(ref, 1, 3), recordOf(ref, 4, {}));
      }
      expect(await store.erase(gone)).toBe(true);
      expect(await store.load(gone)).toBeNull();
      expect(await store.read(gone, 0, 10)).toEqual([]);
      expect((await store.list({ limit: 10 })).sessions.map(({ ref }) => ref)).toEqual([other]);
      expect((await store.read(other, 0, 10)).length).toBe(4);
      expect(await store.erase(gone)).toBe(false);
    }));

  test('touching a session updates its time, never to an earlier one, and adds no events', () =>
    withStore(implementation, async (store) => {
      await begin(store, gone, {});
      const before = (await store.load(gone))?.updatedAt ?? 0;
      await store.touch(gone, before + 1_000);
      await store.touch(gone, before + 500);
      expect(await store.load(gone)).toMatchObject({ updatedAt: before + 1_000, head: 1 });
      expect(await store.findById(gone.id)).toMatchObject([{ updatedAt: before + 1_000 }]);
      await store.touch(other, before);
      expect(await store.load(other)).toBeNull();
    }));

  test('a session with the same id starts empty', () =>
    withStore(implementation, async (store) => {
      await begin(store, gone, {});
      await store.erase(gone);
      await begin(store, gone, {});
      expect((await store.read(gone, 0, 10)).map(({ seq }) => seq)).toEqual([1]);
    }));

  test('appends requested before the erase are erased too', () =>
    withStore(implementation, async (store) => {
      await begin(store, gone, {});
      const appended = store.append(1, textEvents(gone, 1, 3), recordOf(gone, 4, {}));
      expect(await store.erase(gone)).toBe(true);
      await appended;
      expect(await store.read(gone, 0, 10)).toEqual([]);
    }));

  test('sessions are found by part of their title, case-insensitively, and wildcards are literal', () =>
    withStore(implementation, async (store) => {
      await begin(store, refOf('ada', 'a'), { title: 'Plan the 50% sale', updatedAt: 1 });
      await begin(store, refOf('ada', 'b'), { title: 'plan_b', updatedAt: 2 });
      await begin(store, refOf('ada', 'c'), { title: 'Groceries', updatedAt: 3 });
      const found = async (title: string) =>
        idsOf((await store.list({ title, limit: 10 })).sessions).join('');
      expect([await found('PLAN'), await found('0%'), await found('_'), await found('none')]).toEqual([
        'ba',
        'a',
        'b',
        '',
      ]);
    }));
}
