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

  test('titles are found by short parts and in any script, as they are now', () =>
    withStore(implementation, async (store) => {
      const a = refOf('ada', 'a');
      await begin(store, a, { title: 'Die 会議 im "März"', updatedAt: 1 });
      await begin(store, refOf('ada', 'b'), { title: 'x', updatedAt: 2 });
      await begin(store, refOf('ada', 'c'), { updatedAt: 3 });
      const found = async (title: string) => {
        const filter = { title, archived: 'included' } as const;
        const ids = idsOf((await store.list({ ...filter, limit: 10 })).sessions);
        expect(await store.count(filter)).toBe(ids.length);
        return ids.join('');
      };
      const parts = ['会', '議 ', 'mär', '"März"', 'z"', 'X', '議 im "M', 'Die 会議 im "März"', 'MÄR', ''];
      expect(await Promise.all(parts.map(found))).toEqual([
        'a',
        'a',
        'a',
        'a',
        'a',
        'b',
        'a',
        'a',
        '',
        'cba',
      ]);
      await store.append(1, textEvents(a, 1, 1), recordOf(a, 2, { title: 'Groceries' }));
      expect([await found('会'), await found('grocer')]).toEqual(['', 'a']);
      await store.append(2, textEvents(a, 2, 1), recordOf(a, 3, { title: '' }));
      expect(await found('grocer')).toBe('');
      await store.erase(refOf('ada', 'b'));
      expect(await found('x')).toBe('');
    }));
}
