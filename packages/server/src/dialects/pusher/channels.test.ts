import { expect, test } from 'bun:test';
import { FakeClock, QUIET } from '../../testing/pusher.ts';
import { type ChannelSubscriber, Channels } from './channels.ts';
import { LIMITS, type Limits } from './contract.ts';

function setUp(limits: Partial<Limits> = {}, log = QUIET) {
  const clock = new FakeClock();
  const channels = new Channels(() => clock.now(), { ...LIMITS, ...limits }, log);
  const changes: string[] = [];
  const stop = channels.watch({
    occupied: (channel) => changes.push(`+${channel}`),
    vacated: (channel) => changes.push(`-${channel}`),
  });
  return { clock, channels, changes, stop };
}

/** A subscriber that records what it receives. */
function listener(id: string) {
  const texts: string[] = [];
  const subscriber: ChannelSubscriber = { id, send: (text) => texts.push(text) };
  const events = () => texts.map((text) => JSON.parse(text).event);
  return { ...subscriber, texts, events, last: () => JSON.parse(texts.at(-1) ?? 'null') };
}

test('a channel is occupied by its first subscriber and vacated by its last', () => {
  const { channels, changes } = setUp();
  channels.subscribe('a', listener('1.1'), null);
  channels.subscribe('a', listener('1.2'), null);
  channels.unsubscribe('a', '1.1');
  channels.unsubscribe('a', '1.1');
  channels.unsubscribe('b', '1.1');
  expect(changes).toEqual(['+a']);
  channels.unsubscribe('a', '1.2');
  channels.subscribe('a', listener('1.3'), null);
  expect(changes).toEqual(['+a', '-a', '+a']);
});

test('a watcher that is added later receives the occupied channels, and a removed one nothing', () => {
  const { channels, changes, stop } = setUp();
  channels.subscribe('a', listener('1.1'), null);
  const late: string[] = [];
  channels.watch({ occupied: (channel) => late.push(channel), vacated: () => undefined });
  expect(late).toEqual(['a']);
  stop();
  channels.subscribe('b', listener('1.1'), null);
  expect(changes).toEqual(['+a']);
  expect(late).toEqual(['a', 'b']);
});

test('a watcher that throws is logged, and the others are called', () => {
  const logged: string[] = [];
  const { channels } = setUp({}, { ...QUIET, error: (_data, message) => logged.push(message) });
  const notified: string[] = [];
  const broken = () => {
    throw new Error('a bug');
  };
  channels.watch({ occupied: broken, vacated: broken });
  channels.watch({ occupied: (channel) => notified.push(channel), vacated: () => undefined });
  expect(channels.subscribe('a', listener('1.1'), null)).toBe('subscribed');
  expect(notified).toEqual(['a']);
  expect(logged).toEqual(['channel watcher failed']);
});

test('a watcher can publish at once: the subscriber has already received its confirmation', () => {
  const { channels } = setUp();
  channels.watch({ occupied: (channel) => channels.publish(channel, 'hello', {}), vacated: () => undefined });
  const one = listener('1.1');
  channels.subscribe('a', one, null);
  expect(one.events()).toEqual(['pusher_internal:subscription_succeeded', 'hello']);
});

test('an event is encoded once, goes to all but one, and carries its data as a string', () => {
  const { channels } = setUp();
  const [one, two, three] = [listener('1.1'), listener('1.2'), listener('1.3')];
  for (const each of [one, two, three]) channels.subscribe('a', each, null);
  let encodings = 0;
  channels.send('a', { event: 'said', data: { toJSON: () => ++encodings }, except: '1.2' });
  expect(encodings).toBe(1);
  expect(one.texts.at(-1)).toBe('{"event":"said","channel":"a","data":"1"}');
  expect(three.texts.at(-1)).toBe(one.texts.at(-1));
  expect(two.events()).not.toContain('said');
  channels.publish('a', 'said', 'as it is');
  expect(two.last()).toEqual({ event: 'said', channel: 'a', data: 'as it is' });
});

test('publishing without subscribers encodes nothing', () => {
  const { channels } = setUp();
  const never = () => {
    throw new Error('encoded');
  };
  channels.publish('a', 'said', { toJSON: never });
});

test('a user with several sockets is one member: added by the first, removed by the last', () => {
  const { channels } = setUp();
  const [ann, bob, bobToo] = [listener('1.1'), listener('1.2'), listener('1.3')];
  channels.subscribe('presence-a', ann, { user_id: 'ann', user_info: { name: 'Ann' } });
  channels.subscribe('presence-a', bob, { user_id: 'bob' });
  channels.subscribe('presence-a', bobToo, { user_id: 'bob' });
  expect(ann.events()).toEqual(['pusher_internal:subscription_succeeded', 'pusher_internal:member_added']);
  expect(JSON.parse(JSON.parse(bobToo.texts[0] ?? '').data)).toEqual({
    presence: { ids: ['ann', 'bob'], hash: { ann: { name: 'Ann' }, bob: null }, count: 2 },
  });
  expect(channels.states({ prefix: 'presence-' })).toEqual({
    'presence-a': { subscribers: 3, users: ['ann', 'bob'] },
  });
  channels.unsubscribe('presence-a', '1.2');
  expect(ann.texts.length).toBe(2);
  channels.unsubscribe('presence-a', '1.3');
  expect([ann.last().event, JSON.parse(ann.last().data)]).toEqual([
    'pusher_internal:member_removed',
    { user_id: 'bob' },
  ]);
});

test('a full presence channel accepts no further user, but further sockets of its members', () => {
  const { channels } = setUp({ membersPerChannel: 1 });
  expect(channels.subscribe('presence-a', listener('1.1'), { user_id: 'ann' })).toBe('subscribed');
  expect(channels.subscribe('presence-a', listener('1.2'), { user_id: 'bob' })).toBe('full');
  expect(channels.subscribe('presence-a', listener('1.3'), { user_id: 'ann' })).toBe('subscribed');
  expect(channels.subscribe('presence-a', listener('1.3'), { user_id: 'ann' })).toBe('already');
});

test('a cache channel sends its last event to later subscribers until it expires', () => {
  const { channels, clock } = setUp();
  channels.publish('cache-a', 'first', 1);
  channels.publish('cache-a', 'second', 2);
  const one = listener('1.1');
  channels.subscribe('cache-a', one, null);
  expect(one.events()).toEqual(['pusher_internal:subscription_succeeded', 'second']);
  clock.advance(LIMITS.rememberedMs);
  const two = listener('1.2');
  channels.subscribe('cache-a', two, null);
  expect(two.events()).toEqual(['pusher_internal:subscription_succeeded', 'pusher:cache_miss']);
});

test('the cache is bounded: the oldest entry is dropped', () => {
  const { channels } = setUp({ rememberedChannels: 2 });
  for (const name of ['cache-a', 'private-cache-b', 'cache-a', 'presence-cache-c'])
    channels.publish(name, 'said', {});
  const seen = ['cache-a', 'private-cache-b', 'presence-cache-c'].map((name, index) => {
    const one = listener(`1.${index}`);
    channels.subscribe(name, one, name.startsWith('presence-') ? { user_id: 'ann' } : null);
    return one.events()[1];
  });
  expect(seen).toEqual(['said', 'pusher:cache_miss', 'said']);
});

test('a client event goes to all other subscribers, with its sender on a presence channel', () => {
  const { channels } = setUp();
  const [ann, bob] = [listener('1.1'), listener('1.2')];
  channels.subscribe('presence-a', ann, { user_id: 'ann' });
  channels.subscribe('presence-a', bob, { user_id: 'bob' });
  channels.relay('presence-a', { event: 'client-typing', data: { on: true } }, '1.1');
  expect(bob.last()).toEqual({
    event: 'client-typing',
    channel: 'presence-a',
    data: { on: true },
    user_id: 'ann',
  });
  expect(ann.events()).not.toContain('client-typing');
  channels.relay('presence-a', { event: 'client-typing', data: {} }, '9.9');
  expect(ann.events()).not.toContain('client-typing');
});
