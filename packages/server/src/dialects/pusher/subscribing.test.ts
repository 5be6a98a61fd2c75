import { afterEach, expect, test } from 'bun:test';
import { type PusherTestServer, servePusher } from '../../testing/pusher.ts';
import type { Application } from './application.ts';
import type { Limits } from './limits.ts';

const running: PusherTestServer[] = [];

afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
});

function serve(limits: Partial<Limits> = {}, application: Partial<Application> = {}): PusherTestServer {
  const server = servePusher(limits, application);
  running.push(server);
  return server;
}

const SUCCEEDED = 'pusher_internal:subscription_succeeded';

test('a public channel needs no signature; data can be a JSON string', async () => {
  const one = await serve().connect();
  one.send('pusher:subscribe', { channel: 'news' });
  expect(await one.received(SUCCEEDED)).toMatchObject({ channel: 'news', data: {} });
  one.send('pusher:subscribe', JSON.stringify({ channel: 'more', auth: '' }));
  expect(await one.received(SUCCEEDED)).toMatchObject({ channel: 'more' });
});

test('a signature for another socket or other channel data is refused', async () => {
  const server = serve();
  const [one, two] = [await server.connect(), await server.connect()];
  const stolen = one.socketId;
  one.socketId = two.socketId;
  one.ask('private-a');
  expect((await one.received('pusher:subscription_error')).data.status).toBe(401);
  one.socketId = stolen;
  await one.subscribe('private-a');
  await one.subscribe('private-encrypted-a');
});

test('channel names have a limited character set and length', async () => {
  const one = await serve().connect();
  for (const channel of ['', 'a b', 'ä', 'a/b', '#a', 'x'.repeat(201), '#server-to-user-']) {
    one.send('pusher:subscribe', { channel });
    expect((await one.received('pusher:subscription_error')).data.status).toBe(400);
  }
  for (const channel of ['x'.repeat(200), 'a_-=@,.;B9']) {
    one.send('pusher:subscribe', { channel });
    expect((await one.received(SUCCEEDED)).channel).toBe(channel);
  }
});

test('a member requires an id and has a maximum size', async () => {
  const one = await serve({ userIdLength: 5, userInfoBytes: 10, membersPerChannel: 1 }).connect();
  const statusOf = async (member?: object) => {
    one.ask('presence-a', member);
    return (await one.received('pusher:subscription_error')).data.status;
  };
  expect(await statusOf()).toBe(400);
  expect(await statusOf({ name: 'Ann' })).toBe(400);
  expect(await statusOf({ user_id: 'annabel' })).toBe(413);
  expect(await statusOf({ user_id: 'ann', user_info: 'x'.repeat(20) })).toBe(413);
});

test('a presence channel reports members, joins and leaves', async () => {
  const server = serve({ membersPerChannel: 2 });
  const [ann, bob, cyd] = [await server.connect(), await server.connect(), await server.connect()];
  await ann.subscribe('presence-a', { user_id: 1, user_info: { name: 'Ann' } });
  const joined = await bob.subscribe('presence-a', { user_id: 'bob' });
  expect(joined.data).toEqual({
    presence: { ids: ['1', 'bob'], hash: { 1: { name: 'Ann' }, bob: null }, count: 2 },
  });
  expect((await ann.received('pusher_internal:member_added')).data).toEqual({ user_id: 'bob' });
  cyd.ask('presence-a', { user_id: 'cyd' });
  expect((await cyd.received('pusher:subscription_error')).data).toMatchObject({ type: 'LimitReached' });
  bob.client.close();
  expect((await ann.received('pusher_internal:member_removed')).data).toEqual({ user_id: 'bob' });
});

test('a channel is subscribed to once and can be left', async () => {
  const server = serve();
  const one = await server.connect();
  await one.subscribe('a');
  one.ask('a');
  expect(await one.complaint()).toBe(4300);
  one.send('pusher:unsubscribe', { channel: 'a' });
  one.send('pusher:unsubscribe', { channel: 'never' });
  expect(await one.settled()).toEqual([]);
  expect(server.server.channels.states({ names: ['a'] })).toEqual({});
  await one.subscribe('a');
});

test('the number of channels per socket is limited', async () => {
  const one = await serve({ channelsPerSocket: 1 }).connect();
  await one.subscribe('a');
  one.ask('b');
  expect((await one.received('pusher:subscription_error')).data).toMatchObject({
    type: 'LimitReached',
    status: 413,
  });
});
