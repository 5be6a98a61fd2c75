import { expect, test } from 'bun:test';
import { LOCAL, type SessionId } from '@parlance/protocol';
import type { Engine, SessionRef } from '../../core/index.ts';
import type { Subscriber } from '../../http/connection.ts';
import type { ChannelServer } from '../kit/channel-bus.ts';
import type { SubscriptionHub } from '../kit/subscription-hub.ts';
import { Channels } from '../pusher/channels.ts';
import { LIMITS } from '../pusher/contract.ts';
import { watchChannels } from './channel-watch.ts';

const REF: SessionRef = { owner: LOCAL.id, id: 'talk' as SessionId };
const ignore = () => undefined;
const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A watch whose subscriptions the test settles. */
function watched(channels: ChannelServer = { watch: () => ignore, publish: ignore, broadcast: ignore }) {
  const subscribing: (PromiseWithResolvers<void> & { readonly subscriber: Subscriber })[] = [];
  const left: Subscriber[] = [];
  const hub = {
    subscribe(_: SessionRef, subscriber: Subscriber) {
      const pending = { ...Promise.withResolvers<void>(), subscriber };
      subscribing.push(pending);
      return pending.promise;
    },
    leave: (subscriber: Subscriber) => left.push(subscriber),
  } as unknown as SubscriptionHub<unknown>;
  const engine = { firstHolder: async () => REF } as unknown as Engine;
  return { watch: watchChannels({ engine, channels, log }, hub), subscribing, left };
}

test('`follow` resolves when the channel is subscribed, including for concurrent callers', async () => {
  const { watch, subscribing } = watched();
  const followed: string[] = [];
  const follow = (name: string) => watch.follow(REF).then(() => followed.push(name));
  const both = [follow('first'), follow('second')];
  await turn();
  const third = follow('third');
  await turn();
  expect([subscribing.length, followed]).toEqual([1, []]);
  subscribing[0]?.resolve();
  await Promise.all([...both, third]);
  expect(followed.sort()).toEqual(['first', 'second', 'third']);
});

test('a failed subscription is retried', async () => {
  const { watch, subscribing, left } = watched();
  const failed = watch.follow(REF);
  await turn();
  subscribing[0]?.reject(new Error('the session cannot be read'));
  await expect(failed).rejects.toThrow('cannot be read');
  expect(left).toHaveLength(1);
  const again = watch.follow(REF);
  await turn();
  subscribing[1]?.resolve();
  await again;
  expect(subscribing).toHaveLength(2);
});

test('the first subscriber of a channel is confirmed when the session is followed, and misses no message', async () => {
  const channels = new Channels(() => 0, LIMITS, log);
  const { subscribing } = watched(channels);
  const received: string[] = [];
  const prepared = channels
    .prepare('private-session-talk')
    ?.then(() =>
      channels.subscribe('private-session-talk', { id: '1.1', send: (text) => received.push(text) }, null),
    );
  await turn();
  expect([subscribing.length, received]).toEqual([1, []]);
  subscribing[0]?.resolve();
  await prepared;
  subscribing[0]?.subscriber.send(JSON.stringify({ type: 'new_message' }));
  expect(received.map((text) => JSON.parse(text).event)).toEqual([
    'pusher_internal:subscription_succeeded',
    'new_message',
  ]);
  expect([subscribing.length, channels.prepare('presence-other')]).toEqual([1, null]);
});
