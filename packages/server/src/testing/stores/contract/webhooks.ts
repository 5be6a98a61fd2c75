import { expect, test } from 'bun:test';
import { TurnId } from '@parlance/protocol';
import type { Webhook, WebhookProgress } from '../../../core/ports/event-store.ts';
import { begin, refOf } from './samples.ts';
import { type Implementation, withStore } from './store-location.ts';

const ref = refOf('ada', 'followed');
const turn = TurnId.parse('turn-1');
const MAX = { turn: 2, owner: 3 };
const target = { url: 'https://example.com/ü', secret: 'a\0b' };

const webhook = (
  id: string,
  changes: Partial<Webhook & WebhookProgress> = {},
): Webhook & WebhookProgress => ({
  ...{ ref, turn, id, target, createdAt: 1, sent: 0, failures: 0, due: 10 },
  ...changes,
});
const plain = ({ sent: _, failures: __, due: ___, ...rest }: Webhook & WebhookProgress): Webhook => rest;
const none = { alive: [], now: 10, limit: 9 } as const;

export function webhooksContract(implementation: Implementation): void {
  test('a webhook is found unchanged, listed in order of creation, and removed', () =>
    withStore(implementation, async (store) => {
      const { webhooks } = store;
      await begin(store, ref);
      expect(await webhooks.put(webhook('b', { createdAt: 1 }), MAX)).toBe('stored');
      expect(await webhooks.put(webhook('a', { createdAt: 2 }), MAX)).toBe('stored');
      expect(await webhooks.find(ref, turn, 'b')).toEqual(plain(webhook('b')));
      expect(await webhooks.find(refOf('bob', 'followed'), turn, 'b')).toBeNull();
      expect(await webhooks.find(ref, TurnId.parse('turn-2'), 'b')).toBeNull();
      expect((await webhooks.list(ref, turn)).map(({ id }) => id)).toEqual(['b', 'a']);
      expect(await webhooks.remove(ref, turn, 'b')).toBe(true);
      expect(await webhooks.remove(ref, turn, 'b')).toBe(false);
      expect((await webhooks.list(ref, turn)).map(({ id }) => id)).toEqual(['a']);
    }));

  test('a webhook with the same id is replaced, and limits count the others', () =>
    withStore(implementation, async (store) => {
      const { webhooks } = store;
      await begin(store, ref);
      for (const id of ['a', 'b', 'a']) expect(await webhooks.put(webhook(id), MAX)).toBe('stored');
      expect(await webhooks.put(webhook('c'), MAX)).toBe('too_many');
      const replaced = webhook('a', { createdAt: 5, target: {} });
      expect(await webhooks.put(replaced, MAX)).toBe('stored');
      expect(await webhooks.find(ref, turn, 'a')).toEqual(plain(replaced));
      const other = TurnId.parse('turn-2');
      expect(await webhooks.put(webhook('a', { turn: other }), MAX)).toBe('stored');
      expect(await webhooks.put(webhook('b', { turn: other }), MAX)).toBe('too_many');
      await webhooks.take('here', none);
      await webhooks.update('here', webhook('b'), { sent: 9, failures: 0, due: null });
      expect(await webhooks.put(webhook('b', { turn: other }), MAX)).toBe('stored');
    }));

  test('what is due is taken once, and again if its node is gone or has released it', () =>
    withStore(implementation, async (store) => {
      const { webhooks } = store;
      await begin(store, ref);
      expect(await webhooks.nextDue()).toBeNull();
      await webhooks.put(webhook('late', { due: 20 }), MAX);
      await webhooks.put(webhook('soon', { sent: 3, failures: 2 }), MAX);
      expect(await webhooks.nextDue()).toBe(10);
      expect(await webhooks.take('one', { ...none, now: 9 })).toEqual([]);
      expect(await webhooks.take('one', none)).toEqual([webhook('soon', { sent: 3, failures: 2 })]);
      expect(await webhooks.nextDue()).toBe(20);
      expect(await webhooks.take('two', { ...none, alive: ['one', 'two'] })).toEqual([]);
      expect(await webhooks.take('two', { ...none, alive: ['two'] })).toHaveLength(1);
      const progress = { sent: 4, failures: 0, due: 30 };
      expect(await webhooks.update('one', webhook('soon'), progress)).toBe(false);
      expect(await webhooks.update('two', webhook('soon', { createdAt: 2 }), progress)).toBe(false);
      expect(await webhooks.update('two', webhook('soon'), progress)).toBe(true);
      expect(await webhooks.update('two', webhook('soon'), { ...progress, release: true })).toBe(true);
      const query = { alive: ['one', 'two'], now: 30, limit: 1 };
      expect((await webhooks.take('one', query)).map(({ id }) => id)).toEqual(['late']);
      expect(await webhooks.take('one', query)).toEqual([webhook('soon', progress)]);
    }));

  test('nothing is due when all has been sent', () =>
    withStore(implementation, async (store) => {
      const { webhooks } = store;
      await begin(store, ref);
      await webhooks.put(webhook('a'), MAX);
      await webhooks.take('one', none);
      expect(await webhooks.update('one', webhook('a'), { sent: 7, failures: 0, due: null })).toBe(true);
      expect(await webhooks.take('two', none)).toEqual([]);
      expect(await webhooks.nextDue()).toBeNull();
      expect(await webhooks.list(ref, turn)).toHaveLength(1);
    }));

  test('a webhook requires a session and is removed with it', () =>
    withStore(implementation, async (store) => {
      const { webhooks } = store;
      expect(await webhooks.put(webhook('a'), MAX)).toBe('no_session');
      await begin(store, ref);
      await webhooks.put(webhook('a'), MAX);
      await store.erase(ref);
      expect(await webhooks.take('one', none)).toEqual([]);
      await begin(store, ref);
      expect(await webhooks.list(ref, turn)).toEqual([]);
    }));
}
