import { expect, test } from 'bun:test';
import type { Invitation } from '../../../accounts/store.ts';
import { type Implementation, withStore } from './store-location.ts';

const userOf = (name: string) => ({ name, role: 'user', passwordHash: 'hash', createdAt: 1 }) as const;

const invitationOf = (id: string, changes: Partial<Invitation> = {}): Invitation => ({
  ...{ id, hash: `hash of ${id}`, name: `user ${id}`, role: 'developer', createdBy: 'ada' },
  ...{ createdAt: 1_000, expiresAt: 1_800_000_000_000 },
  ...changes,
});

const idsOf = (invitations: readonly Invitation[]): string[] => invitations.map(({ id }) => id);

export function invitationsContract(implementation: Implementation): void {
  test('invitations are found unchanged, listed in order of creation, and removed', () =>
    withStore(implementation, async (store) => {
      const { invitations } = store;
      await store.put(userOf('ada'));
      expect(await invitations.add(invitationOf('b', { createdAt: 1 }), 10)).toBe(true);
      expect(await invitations.add(invitationOf('a', { createdAt: 2 }), 10)).toBe(true);
      expect(await invitations.find('a')).toEqual(invitationOf('a', { createdAt: 2 }));
      for (const id of ['A', '', '%']) expect(await invitations.find(id)).toBeNull();
      expect(idsOf(await invitations.list())).toEqual(['b', 'a']);
      expect(await invitations.remove('b')).toBe(true);
      expect(await invitations.remove('b')).toBe(false);
      expect(idsOf(await invitations.list())).toEqual(['a']);
    }));

  test('an invitation requires its admin and is removed with the admin', () =>
    withStore(implementation, async (store) => {
      const { invitations } = store;
      expect(await invitations.add(invitationOf('a'), 10)).toBe(false);
      await store.put(userOf('ada'));
      await invitations.add(invitationOf('a'), 10);
      await store.remove('ada');
      expect(await invitations.list()).toEqual([]);
    }));

  test('their number is limited; expired ones and earlier ones of the same name are removed', () =>
    withStore(implementation, async (store) => {
      const { invitations } = store;
      await store.put(userOf('ada'));
      await invitations.add(invitationOf('a'), 2);
      await invitations.add(invitationOf('b', { expiresAt: 1_001 }), 2);
      expect(await invitations.add(invitationOf('c'), 2)).toBe(false);
      expect(await invitations.add(invitationOf('d', { createdAt: 1_001 }), 2)).toBe(true);
      expect(await invitations.add(invitationOf('e', { name: 'user a', createdAt: 1_002 }), 2)).toBe(true);
      expect(idsOf(await invitations.list())).toEqual(['d', 'e']);
    }));

  test('an invitation is accepted once, also under concurrency, and adds the user', () =>
    withStore(implementation, async (store) => {
      const { invitations } = store;
      await store.put(userOf('ada'));
      await invitations.add(invitationOf('a'), 10);
      const hashes = ['one', 'two', 'three'];
      const outcomes = await Promise.all(
        hashes.map((passwordHash) => invitations.accept('a', { ...userOf('new'), passwordHash })),
      );
      expect(outcomes.filter((outcome) => outcome === 'accepted')).toHaveLength(1);
      const passwordHash = hashes[outcomes.indexOf('accepted')];
      expect(await store.find('new')).toMatchObject({ ...userOf('new'), passwordHash });
      expect(await invitations.list()).toEqual([]);
    }));

  test('without an invitation nobody is added, and an existing user is not changed', () =>
    withStore(implementation, async (store) => {
      const { invitations } = store;
      await store.put(userOf('ada'));
      expect(await invitations.accept('a', userOf('new'))).toBe('gone');
      expect(await store.find('new')).toBeNull();
      await invitations.add(invitationOf('a'), 10);
      const before = await store.find('ada');
      expect(await invitations.accept('a', { ...userOf('ada'), passwordHash: 'other' })).toBe('taken');
      expect(await store.find('ada')).toEqual(before);
      expect(idsOf(await invitations.list())).toEqual(['a']);
    }));
}
