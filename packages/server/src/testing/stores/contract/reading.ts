import { expect, test } from 'bun:test';
import { begin, recordOf, refOf, seqsOf, textEvent, textEvents } from './samples.ts';
import { type Implementation, withStore } from './store-location.ts';

export function readingContract(implementation: Implementation): void {
  const ref = refOf('ada', 'first');

  test('events are read in order, after a sequence number and up to a limit', () =>
    withStore(implementation, async (store) => {
      await begin(store, ref, { head: 12 });
      expect(seqsOf(await store.read(ref, 0, 4))).toEqual([1, 2, 3, 4]);
      expect(seqsOf(await store.read(ref, 4, 4))).toEqual([5, 6, 7, 8]);
      expect(seqsOf(await store.read(ref, 9, 100))).toEqual([10, 11, 12]);
      expect(seqsOf(await store.read(ref, 11, Number.POSITIVE_INFINITY))).toEqual([12]);
      expect(seqsOf(await store.read(ref, 12, 4))).toEqual([]);
      expect(seqsOf(await store.read(ref, 99, 4))).toEqual([]);
      expect(seqsOf(await store.read(ref, 0, 0))).toEqual([]);
    }));

  test('the head is the number of the last event', () =>
    withStore(implementation, async (store) => {
      expect(await store.head(ref)).toBe(0);
      await begin(store, ref, { head: 12 });
      expect(await store.head(ref)).toBe(12);
      await begin(store, refOf('ada', 'second'), { head: 3 });
      const refs = [refOf('bob', 'first'), refOf('ada', 'second'), ref];
      expect(await store.heads(refs)).toEqual([0, 3, 12]);
      expect(await store.heads([])).toEqual([]);
      await store.erase(ref);
      expect(await store.head(ref)).toBe(0);
    }));

  test('the size reflects stored data', () =>
    withStore(implementation, async (store) => {
      const before = await store.size();
      await store.append(0, [textEvent(ref, 1, 'x'.repeat(1_000_000))], recordOf(ref, 1));
      expect((await store.size()) - before).toBeWithin(1_000_000, 1_200_000);
    }));

  test('a session that was never created has no events and no record and is not found', () =>
    withStore(implementation, async (store) => {
      expect(await store.read(ref, 0, 10)).toEqual([]);
      expect(await store.load(ref)).toBeNull();
      expect(await store.findById(ref.id)).toEqual([]);
      expect(await store.list({ limit: 10 })).toEqual({ sessions: [], next: null });
    }));

  test('two owners can use the same id for different sessions', () =>
    withStore(implementation, async (store) => {
      const hers = refOf('ada', 'shared');
      const his = refOf('bob', 'shared');
      await begin(store, hers, { head: 3, title: 'hers' });
      await begin(store, his, { head: 1, title: 'his' });
      expect(await store.read(hers, 0, 10)).toEqual(textEvents(hers, 0, 3));
      expect(await store.read(his, 0, 10)).toEqual(textEvents(his, 0, 1));
      expect((await store.load(hers))?.title).toBe('hers');
      expect((await store.load(his))?.title).toBe('his');
    }));

  test('different owner and id pairs never collide', () =>
    withStore(implementation, async (store) => {
      await begin(store, refOf('a/b', 'c'), { title: 'one' });
      await begin(store, refOf('a', 'b/c'), { title: 'another' });
      expect((await store.load(refOf('a/b', 'c')))?.title).toBe('one');
      expect((await store.load(refOf('a', 'b/c')))?.title).toBe('another');
    }));

  test('sessions with one id are found for every owner, in the order of their creation', () =>
    withStore(implementation, async (store) => {
      await begin(store, refOf('ada', 'shared'), { createdAt: 20, updatedAt: 20 });
      // At the same moment: the one that was stored first is the first.
      await begin(store, refOf('bob', 'shared'), { createdAt: 20, updatedAt: 30 });
      await begin(store, refOf('cyd', 'shared'), { createdAt: 10, updatedAt: 40 });
      await begin(store, refOf('cyd', 'shared-not'), { createdAt: 5, updatedAt: 5 });
      const found = await store.findById(refOf('ada', 'shared').id);
      expect(found.map(({ ref: { owner } }) => String(owner))).toEqual(['cyd', 'ada', 'bob']);
    }));

  test('ids and owners are case- and accent-sensitive', () =>
    withStore(implementation, async (store) => {
      await begin(store, refOf('ada', 'resume'));
      for (const other of [refOf('ada', 'Resume'), refOf('ada', 'résumé'), refOf('Ada', 'resume')]) {
        expect(await store.load(other)).toBeNull();
      }
    }));

  test('a checkpoint is returned unchanged, can be replaced and can be removed', () =>
    withStore(implementation, async (store) => {
      const checkpoints = [
        { version: 1, seq: 1, state: JSON.stringify({ text: 'x'.repeat(200_000) }) },
        { version: 1, seq: 1, state: '{}' },
        { version: 2, seq: 1, state: '{}' },
        { version: 2, seq: 0, state: '' },
        null,
      ];
      await begin(store, ref);
      for (const checkpoint of checkpoints) {
        await store.append(1, [], recordOf(ref, 1, { checkpoint }));
        expect((await store.load(ref))?.checkpoint).toEqual(checkpoint);
        expect((await store.findById(ref.id))[0]?.checkpoint).toEqual(checkpoint);
        expect((await store.list({ limit: 1 })).sessions[0]?.checkpoint).toEqual(checkpoint);
      }
    }));
}
