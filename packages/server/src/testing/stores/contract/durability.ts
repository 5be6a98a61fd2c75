import { expect, test } from 'bun:test';
import { TurnId } from '@parlance/protocol';
import { begin, outcomeOf, recordOf, refOf, seqsOf, textEvent, textEvents } from './samples.ts';
import { type Implementation, withStore } from './store-location.ts';

export function durabilityContract(implementation: Implementation): void {
  const ref = refOf('ada', 'first');
  const { forgets } = implementation;
  const durableTest = (title: string, run: () => Promise<void>) =>
    test.skipIf(forgets !== undefined)(
      forgets === undefined ? title : `${title} (not here: ${forgets})`,
      run,
    );

  test('a closed store refuses every operation, and closing it again is harmless', () =>
    withStore(implementation, async (store) => {
      await begin(store, ref);
      await store.close();
      await store.close();
      const refused = [
        store.append(1, textEvents(ref, 1, 1), recordOf(ref, 2)),
        store.read(ref, 0, 1),
        store.head(ref),
        store.heads([ref]),
        store.load(ref),
        store.findById(ref.id),
        store.lookup({ kind: 'turn', id: TurnId.parse('turn') }),
        store.list({ limit: 1 }),
        store.count({}),
        store.writable(),
        store.preferences.get(ref.owner),
        store.preferences.put(ref.owner, {}),
        store.revocations.add('token', 1),
        store.revocations.has('token'),
        store.apiKeys.find('key'),
        store.apiKeys.list(),
        store.apiKeys.remove('key'),
        store.apiKeys.used(new Map()),
        store.pairings.requests(),
        store.pairings.find('pairing'),
        store.pairings.list(),
        store.pairings.remove('pairing'),
        store.signIns.find('sign-in'),
        store.signIns.remove('sign-in'),
        store.invitations.list(),
        store.invitations.remove('invitation'),
        store.everyone(),
        store.find('ada'),
        store.put({ name: 'ada', role: 'user', passwordHash: 'hash', createdAt: 1 }),
        store.remove('ada'),
      ];
      expect(await Promise.all(refused.map(outcomeOf))).toEqual(refused.map(() => 'Error'));
    }));

  test('a probe reports whether the store is writable and changes nothing', () =>
    withStore(implementation, async (store) => {
      await begin(store, ref);
      await store.writable();
      await Promise.all([store.append(1, textEvents(ref, 1, 1), recordOf(ref, 2)), store.writable()]);
      expect(seqsOf(await store.read(ref, 0, 10))).toEqual([1, 2]);
    }));

  test('an append requested before the close is written and resolves', () =>
    withStore(implementation, async (store) => {
      const writing = outcomeOf(begin(store, ref));
      await store.close();
      expect(await writing).toBe('written');
    }));

  durableTest('acknowledged writes survive reopening', () =>
    withStore(implementation, async (store, place) => {
      const record = recordOf(ref, 3, {
        archived: true,
        renamed: true,
        firstInput: 'How do I begin?',
        labels: { site: 'one.org' },
        messageCount: 3,
        checkpoint: { version: 4, seq: 2, state: '{"open":[]}' },
      });
      const user = { name: 'ada', role: 'admin', passwordHash: 'hash', createdAt: 7 } as const;
      await store.append(0, textEvents(ref, 0, 3), record);
      await store.put(user);
      const kept = await store.find('ada');
      expect(kept).toMatchObject(user);
      await store.revocations.add('token', Date.now() + 3_600_000);
      await store.preferences.put(ref.owner, { theme: 'dark' });
      const unawaited = store.append(3, textEvents(ref, 3, 1), { ...record, head: 4 });
      await store.close();
      await unawaited;

      const again = await place.open();
      expect(await again.read(ref, 0, 10)).toEqual(textEvents(ref, 0, 4));
      expect(await again.load(ref)).toEqual({ ...record, head: 4 });
      expect(await again.find('ada')).toEqual(kept);
      expect(await again.revocations.has('token')).toBe(true);
      expect(await again.preferences.get(ref.owner)).toEqual({ theme: 'dark' });
      await again.append(4, textEvents(ref, 4, 1), { ...record, head: 5 });
      await again.close();
    }),
  );

  durableTest('a cursor stays valid after reopening', () =>
    withStore(implementation, async (store, place) => {
      await begin(store, ref, { updatedAt: 1 });
      await begin(store, refOf('ada', 'second'), { updatedAt: 2 });
      const { next } = await store.list({ limit: 1 });
      await store.close();
      const again = await place.open();
      const page = await again.list({ limit: 1, cursor: next ?? '' });
      await again.close();
      expect(page.sessions.map(({ ref: { id } }) => id)).toEqual([ref.id]);
    }),
  );

  durableTest("two stores on one place see each other's writes and cannot both write the same event", () =>
    withStore(implementation, async (store, place) => {
      const other = await place.open();
      try {
        await begin(store, ref);
        expect(seqsOf(await other.read(ref, 0, 10))).toEqual([1]);
        const outcomes = await Promise.all([
          outcomeOf(store.append(1, [textEvent(ref, 2, 'one')], recordOf(ref, 2))),
          outcomeOf(other.append(1, [textEvent(ref, 2, 'other')], recordOf(ref, 2))),
        ]);
        expect(outcomes.sort()).toEqual(['AppendConflict', 'written']);
        expect(seqsOf(await store.read(ref, 0, 10))).toEqual([1, 2]);
        await other.put({ name: 'ada', role: 'user', passwordHash: 'hash', createdAt: 1 });
        expect((await store.find('ada'))?.name).toBe('ada');
      } finally {
        await other.close();
      }
    }),
  );
}
