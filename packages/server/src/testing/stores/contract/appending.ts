import { expect, test } from 'bun:test';
import { AppendConflict } from '../../../core/ports/event-store.ts';
import { begin, outcomeOf, recordOf, refOf, seqsOf, textEvent, textEvents } from './samples.ts';
import { type Implementation, withStore } from './store-location.ts';

export function appendingContract(implementation: Implementation): void {
  const ref = refOf('ada', 'first');

  test('events and record are readable when the append resolves', () =>
    withStore(implementation, async (store) => {
      const events = textEvents(ref, 0, 3);
      const record = recordOf(ref, 3);
      await store.append(0, events, record);
      expect(await store.read(ref, 0, 10)).toEqual(events);
      expect(await store.load(ref)).toEqual(record);
    }));

  test('unacknowledged events are not readable', () =>
    withStore(implementation, async (store) => {
      const reads: Readonly<Record<string, () => Promise<boolean>>> = {
        read: async () => (await store.read(ref, 0, 10)).length > 0,
        load: async () => (await store.load(ref)) !== null,
        findById: async () => (await store.findById(ref.id)).length > 0,
        list: async () => (await store.list({ limit: 10 })).sessions.length > 0,
        count: async () => (await store.count({})) > 0,
      };
      for (const [name, seen] of Object.entries(reads)) {
        let acknowledged = false;
        const appended = begin(store, ref).then(() => {
          acknowledged = true;
        });
        // read repeatedly, so that some reads happen during the write
        while (!(await seen())) await new Promise<void>((resolve) => setImmediate(resolve));
        expect([name, acknowledged]).toEqual([name, true]);
        await appended;
        await store.erase(ref);
      }
    }));

  test('an append at an unexpected position is a conflict and writes nothing', () =>
    withStore(implementation, async (store) => {
      await begin(store, ref, { head: 2 });
      for (const expected of [0, 1, 3]) {
        const late = recordOf(ref, expected + 1, { title: 'late' });
        const refused = store.append(expected, textEvents(ref, expected, 1), late);
        await expect(refused).rejects.toBeInstanceOf(AppendConflict);
      }
      expect(seqsOf(await store.read(ref, 0, 10))).toEqual([1, 2]);
      expect(await store.load(ref)).toEqual(recordOf(ref, 2));
    }));

  test('an append to a missing session is a conflict unless it creates the session', () =>
    withStore(implementation, async (store) => {
      const refused = store.append(4, textEvents(ref, 4, 1), recordOf(ref, 5));
      expect(await outcomeOf(refused)).toBe('AppendConflict');
      expect(await store.load(ref)).toBeNull();
    }));

  test('of several appends at the same position, only the first is written', () =>
    withStore(implementation, async (store) => {
      await begin(store, ref);
      const racing = ['one', 'two', 'three'].map((text) =>
        outcomeOf(store.append(1, [textEvent(ref, 2, text)], recordOf(ref, 2, { title: text }))),
      );
      expect(await Promise.all(racing)).toEqual(['written', 'AppendConflict', 'AppendConflict']);
      expect(await store.read(ref, 1, 10)).toEqual([textEvent(ref, 2, 'one')]);
      expect((await store.load(ref))?.title).toBe('one');
    }));

  test('concurrent appends to one session are written in call order', () =>
    withStore(implementation, async (store) => {
      const appends = Array.from({ length: 50 }, (_, index) =>
        store.append(index, textEvents(ref, index, 1), recordOf(ref, index + 1)),
      );
      await Promise.all(appends);
      expect(await store.read(ref, 0, 100)).toEqual(textEvents(ref, 0, 50));
      expect((await store.load(ref))?.head).toBe(50);
    }));

  test('a conflict does not affect other appends of the group', () =>
    withStore(implementation, async (store) => {
      const other = refOf('ada', 'other');
      const outcomes = await Promise.all([
        outcomeOf(begin(store, ref)),
        outcomeOf(store.append(7, textEvents(ref, 7, 1), recordOf(ref, 8))),
        outcomeOf(begin(store, other)),
        outcomeOf(store.append(1, textEvents(ref, 1, 1), recordOf(ref, 2))),
      ]);
      expect(outcomes).toEqual(['written', 'AppendConflict', 'written', 'written']);
      expect(seqsOf(await store.read(ref, 0, 10))).toEqual([1, 2]);
      expect(seqsOf(await store.read(other, 0, 10))).toEqual([1]);
    }));

  test('concurrent appends to many sessions are all written', () =>
    withStore(implementation, async (store) => {
      const count = Math.min(1_500, (implementation.maxWaiting ?? Number.POSITIVE_INFINITY) / 2);
      const refs = Array.from({ length: count }, (_, index) => refOf(`owner-${index % 7}`, `s${index}`));
      await Promise.all(
        refs.flatMap((each) => [
          begin(store, each),
          store.append(1, textEvents(each, 1, 2), recordOf(each, 3)),
        ]),
      );
      for (const each of refs) {
        expect(await store.read(each, 0, 10)).toEqual(textEvents(each, 0, 3));
        expect((await store.load(each))?.head).toBe(3);
      }
    }));

  test('refuses events that are misnumbered, of another session or not counted by the record', () =>
    withStore(implementation, async (store) => {
      await begin(store, ref);
      const wrong = [
        store.append(1, [textEvent(ref, 3)], recordOf(ref, 2)),
        store.append(1, [textEvent(ref, 2), textEvent(ref, 2)], recordOf(ref, 3)),
        store.append(1, [textEvent(refOf('ada', 'other'), 2)], recordOf(ref, 2)),
        store.append(1, [textEvent(ref, 2)], recordOf(ref, 9)),
        store.append(0, [], recordOf(refOf('ada', 'empty'), 0)),
      ];
      expect(await Promise.all(wrong.map(outcomeOf))).toEqual(wrong.map(() => 'Error'));
      expect(seqsOf(await store.read(ref, 0, 10))).toEqual([1]);
      expect(await store.load(refOf('ada', 'empty'))).toBeNull();
    }));

  test('an append without events updates only the record, with the same checks', () =>
    withStore(implementation, async (store) => {
      await begin(store, ref, { head: 2 });
      const changed = recordOf(ref, 2, { title: 'renamed', status: 'failed' });
      await store.append(2, [], changed);
      expect(await store.load(ref)).toEqual(changed);
      expect(await outcomeOf(store.append(1, [], recordOf(ref, 1)))).toBe('AppendConflict');
      expect(seqsOf(await store.read(ref, 0, 10))).toEqual([1, 2]);
    }));

  test('an event is stored as it was at the time of the append, even if the object changes later', () =>
    withStore(implementation, async (store) => {
      const given = { ...textEvent(ref, 1) };
      const writing = store.append(0, [given], recordOf(ref, 1));
      given.id = 'changed while it was written';
      await writing;
      // What is read may be frozen.
      for (const event of await store.read(ref, 0, 1)) Reflect.set(event, 'id', 'changed by a reader');
      expect(await store.read(ref, 0, 1)).toEqual([textEvent(ref, 1)]);
    }));
}
