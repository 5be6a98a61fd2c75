import { expect, test } from 'bun:test';
import { PrincipalId } from '@parlance/protocol';
import type { FileDecision } from '../../../accounts/store.ts';
import { type Implementation, withStore } from './store-location.ts';

const ada = PrincipalId.parse('ada');
const bob = PrincipalId.parse('bob');

const decision = (over: Partial<FileDecision> = {}): FileDecision => ({
  owner: ada,
  path: '/work/AGENTS.md',
  hash: 'a',
  state: 'used',
  content: 'Be brief.\0\ud83d\u202e',
  by: 'ada',
  at: 1,
  ...over,
});

export function decisionsContract(implementation: Implementation): void {
  test('a decision is found by its owner with the exact content, and by nobody else', () =>
    withStore(implementation, async ({ decisions }) => {
      await decisions.put(decision(), 10);
      expect(await decisions.find(ada, ['/work/AGENTS.md', '/other'])).toEqual([decision()]);
      expect(await decisions.find(bob, ['/work/AGENTS.md'])).toEqual([]);
      expect(await decisions.find(null, ['/work/AGENTS.md'])).toEqual([]);
      expect(await decisions.find(ada, [])).toEqual([]);
      const { content: _, ...row } = decision();
      expect(await decisions.list(ada)).toEqual([row]);
      expect(await decisions.list(bob)).toEqual([]);
    }));

  test('a decision for everybody is found by each', () =>
    withStore(implementation, async ({ decisions }) => {
      await decisions.put(decision({ owner: null }), 10);
      expect(await decisions.find(bob, ['/work/AGENTS.md'])).toEqual([decision({ owner: null })]);
      expect(await decisions.list(ada)).toEqual([]);
      expect(await decisions.list(null)).toHaveLength(1);
    }));

  test('asking changes no decision, declining keeps the accepted version, accepting replaces all', () =>
    withStore(implementation, async ({ decisions }) => {
      const states = async () => (await decisions.list(ada)).map(({ hash, state }) => `${hash} ${state}`);
      await decisions.put(decision(), 10);
      await decisions.put(decision({ state: 'asked', at: 2 }), 10);
      expect(await states()).toEqual(['a used']);
      await decisions.put(decision({ hash: 'b', state: 'asked', at: 3 }), 10);
      expect(await states()).toEqual(['a used', 'b asked']);
      await decisions.put(decision({ hash: 'b', state: 'declined', at: 4 }), 10);
      expect(await states()).toEqual(['a used', 'b declined']);
      await decisions.put(decision({ hash: 'c', state: 'used', at: 5 }), 10);
      expect(await states()).toEqual(['c used']);
      await decisions.put(decision({ hash: 'c', state: 'declined', at: 6 }), 10);
      expect(await states()).toEqual(['c declined']);
    }));

  test('the oldest decisions of an owner are dropped above the limit', () =>
    withStore(implementation, async ({ decisions }) => {
      await decisions.put(decision({ owner: bob }), 2);
      for (const at of [1, 2, 3]) await decisions.put(decision({ path: `/${at}`, at }), 2);
      expect((await decisions.list(ada)).map(({ path }) => path)).toEqual(['/2', '/3']);
      expect(await decisions.list(bob)).toHaveLength(1);
    }));

  test('removing names owner and file', () =>
    withStore(implementation, async ({ decisions }) => {
      await decisions.put(decision(), 10);
      await decisions.put(decision({ owner: null }), 10);
      expect(await decisions.remove(bob, '/work/AGENTS.md')).toBe(false);
      expect(await decisions.remove(ada, '/work/AGENTS.md')).toBe(true);
      expect(await decisions.remove(ada, '/work/AGENTS.md')).toBe(false);
      expect(await decisions.list(null)).toHaveLength(1);
    }));

  test('removing a user removes what it has decided', () =>
    withStore(implementation, async (store) => {
      const user = { name: 'ada', role: 'user', passwordHash: 'x', createdAt: 1 } as const;
      await store.put(user);
      await store.decisions.put(decision(), 10);
      await store.remove('ada');
      await store.put(user);
      expect(await store.decisions.list(ada)).toEqual([]);
    }));
}
