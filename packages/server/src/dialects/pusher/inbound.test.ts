import { afterEach, expect, test } from 'bun:test';
import type { AnyFrame } from '../../testing/client.ts';
import { type PusherTestServer, servePusher } from '../../testing/pusher.ts';
import { LIMITS, type Limits } from './contract.ts';
import type { Application } from './server.ts';
import { userAuth } from './signature.ts';

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

test('a client receives a socket id and the activity timeout, as a JSON string', async () => {
  const one = await serve().open('/app/app-key?protocol=7&client=js&version=8.6.0');
  const frame = await one.client.next(() => true);
  expect(frame.event as string).toBe('pusher:connection_established');
  expect(JSON.parse(String(frame.data))).toEqual({
    socket_id: expect.stringMatching(/^\d+\.\d+$/),
    activity_timeout: 120,
  });
});

const turnedAway: [why: string, path: string, code: number][] = [
  ['an unknown key', '/app/nobody?protocol=7', 4001],
  ['a version that is not a number', '/app/app-key?protocol=seven', 4006],
  ['a version that is too old', '/app/app-key?protocol=4', 4007],
  ['a version that is too new', '/app/app-key?protocol=8', 4007],
  ['no version', '/app/app-key', 4008],
];

for (const [why, path, code] of turnedAway) {
  test(`${why} gets ${code} and is closed with it`, async () => {
    const one = await serve().open(path);
    expect(await one.complaint()).toBe(code);
    expect((await one.client.closed).code).toBe(code);
  });
}

test('protocols 5 and 6 are supported as well', async () => {
  const server = serve();
  for (const version of [5, 6]) await (await server.open(`/app/app-key?protocol=${version}`)).greeted();
});

test('other paths serve no socket', async () => {
  const { http } = serve();
  for (const path of ['/app', '/app/', '/app/a/b'])
    expect((await fetch(http + path, { headers: { upgrade: 'websocket' } })).status).toBe(404);
});

test('a socket beyond the limit gets 4100; after one has left, the next is accepted', async () => {
  const server = serve({ sockets: 1 });
  const first = await server.connect();
  const second = await server.open('/app/app-key?protocol=7');
  expect(await second.complaint()).toBe(4100);
  expect((await second.client.closed).code).toBe(4100);
  first.client.close();
  await first.client.closed;
  await server.connect();
});

test('a ping is answered', async () => {
  const one = await serve().connect();
  one.send('pusher:ping', {});
  expect((await one.received('pusher:pong')).data).toEqual({});
});

test('a silent client receives a ping and is closed with 4201 if it stays silent', async () => {
  const server = serve();
  const [silent, there] = [await server.connect(), await server.connect()];
  server.clock.advance(LIMITS.silenceMs);
  await silent.received('pusher:ping');
  await there.received('pusher:ping');
  there.send('pusher:pong', {});
  await there.settled();
  server.clock.advance(LIMITS.answerMs);
  expect(await silent.complaint()).toBe(4201);
  expect((await silent.client.closed).code).toBe(4201);
  expect(await there.settled()).toEqual([]);
});

test('an active client receives a ping only after a whole timeout of silence', async () => {
  const server = serve();
  const one = await server.connect();
  server.clock.advance(LIMITS.silenceMs - 1);
  await one.settled();
  server.clock.advance(1);
  expect(await one.settled()).toEqual([]);
  server.clock.advance(LIMITS.silenceMs);
  await one.received('pusher:ping');
});

test('a closed socket is removed from all channels', async () => {
  const server = serve();
  const one = await server.connect();
  await one.subscribe('a');
  const { promise, resolve } = Promise.withResolvers<void>();
  server.server.channels.watch({ occupied: () => undefined, vacated: () => resolve() });
  one.client.close();
  await promise;
  expect([server.server.channels.states({ prefix: '' }), server.clock.timers]).toEqual([{}, 0]);
});

const badAuth: [why: string, channel: string, data: object][] = [
  ['no signature on a private channel', 'private-a', {}],
  ['an empty signature', 'private-a', { auth: '' }],
  ['an invalid signature', 'private-a', { auth: `app-key:${'0'.repeat(64)}` }],
  ['no signature on an encrypted channel', 'private-encrypted-a', {}],
  ['no signature on a presence channel', 'presence-a', { channel_data: '{"user_id":"ann"}' }],
  ['a user channel without sign-in', '#server-to-user-ann', { auth: '' }],
];

for (const [why, channel, data] of badAuth) {
  test(`${why} is a subscription error with status 401`, async () => {
    const one = await serve().connect();
    one.send('pusher:subscribe', { channel, ...data });
    const error = await one.received('pusher:subscription_error');
    expect(error).toMatchObject({ channel, data: { type: 'AuthError', status: 401 } });
    expect(await one.settled()).toEqual([]);
  });
}

test('a malformed message gets an error, and the socket stays usable', async () => {
  const one = await serve().connect();
  const { socket } = one.client;
  for (const text of [
    '{',
    '[]',
    '7',
    'null',
    '{}',
    '{"event":7}',
    '{"event":""}',
    `"${'x'.repeat(150_000)}"`,
  ]) {
    socket.send(text);
    expect(await one.complaint()).toBe(4300);
  }
  for (const event of ['pusher:subscribe', 'pusher:unsubscribe', 'pusher:signin', 'pusher:dance', 'typing']) {
    one.send(event, 'what?');
    expect(await one.complaint()).toBe(4300);
  }
  expect(await one.settled()).toEqual([]);
});

test('a signed-in user has its own channel, and can join a presence channel without channel_data', async () => {
  const server = serve();
  const one = await server.connect();
  const user_data = JSON.stringify({ id: 'ann', user_info: { name: 'Ann' } });
  one.send('pusher:signin', {
    auth: userAuth(server.server.application, { socketId: one.socketId, userData: user_data }),
    user_data,
  });
  expect((await one.received('pusher:signin_success')).data).toEqual({ user_data });
  one.send('pusher:subscribe', { channel: '#server-to-user-bob', auth: '' });
  expect((await one.received('pusher:subscription_error')).data.status).toBe(401);
  one.send('pusher:subscribe', { channel: '#server-to-user-ann', auth: '' });
  await one.received(SUCCEEDED);
  expect((await one.subscribe('presence-a')).data).toMatchObject({
    presence: { hash: { ann: { name: 'Ann' } } },
  });
  const other = JSON.stringify({ id: 'bob' });
  one.send('pusher:signin', {
    auth: userAuth(server.server.application, { socketId: one.socketId, userData: other }),
    user_data: other,
  });
  expect(await one.complaint()).toBe(4300);
});

test('signing in with an invalid signature closes the connection with 4009', async () => {
  const one = await serve().connect();
  one.send('pusher:signin', { auth: 'app-key:0', user_data: '{"id":"ann"}' });
  expect(await one.complaint()).toBe(4009);
  expect((await one.client.closed).code).toBe(4009);
});

test('a user requires an id', async () => {
  const server = serve();
  const one = await server.connect();
  for (const user_data of ['{}', 'x', JSON.stringify({ id: 'x'.repeat(129) })]) {
    one.send('pusher:signin', {
      auth: userAuth(server.server.application, { socketId: one.socketId, userData: user_data }),
      user_data,
    });
    expect(await one.complaint()).toBe(4300);
  }
});

test('with the default secret, a signature alone opens no session channel', async () => {
  const server = serve({}, { known: true });
  const one = await server.connect();
  await one.subscribe('private-room');
  for (const channel of ['private-session-1', 'private-user-ann']) {
    one.ask(channel);
    expect((await one.received('pusher:subscription_error')).data).toMatchObject({ status: 403 });
  }
  server.server.connected.permit(one.socketId, 'private-session-1');
  await one.subscribe('private-session-1');
  one.send('pusher:unsubscribe', { channel: 'private-session-1' });
  one.ask('private-session-1');
  expect((await one.received('pusher:subscription_error')).data.status).toBe(403);
});

test('a draining server announces its shutdown', async () => {
  const server = serve();
  const one = await server.connect();
  server.drain();
  expect(await one.complaint()).toBe(4200);
  expect((await one.client.closed).code).toBe(1001);
});

// Subscriptions

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

// Client events

test('a client event reaches the other subscribers unchanged, and not its sender', async () => {
  const server = serve();
  const [one, two] = [await server.connect(), await server.connect()];
  for (const each of [one, two]) await each.subscribe('private-a');
  one.send('client-typing', { on: true }, 'private-a');
  expect(await one.settled()).toEqual([]);
  const frame: AnyFrame = await two.client.next((frame) => frame.event === 'client-typing');
  expect(frame as object).toEqual({ event: 'client-typing', channel: 'private-a', data: { on: true } });
});

test('client events require a subscription to a private or presence channel', async () => {
  const one = await serve().connect();
  for (const channel of ['a', 'private-encrypted-a']) await one.subscribe(channel);
  for (const channel of ['a', 'private-encrypted-a', 'private-b', undefined]) {
    one.send('client-typing', {}, channel);
    expect(await one.complaint()).toBe(4301);
  }
});

test('a client event has size limits: names of 200 characters, data of 10,240 bytes', async () => {
  const server = serve();
  const [one, two] = [await server.connect(), await server.connect()];
  for (const each of [one, two]) await each.subscribe('private-a');
  one.send('client-data', 'x'.repeat(10_240), 'private-a');
  await two.client.next((frame) => frame.event === 'client-data');
  one.send('client-data', 'x'.repeat(10_241), 'private-a');
  expect(await one.complaint()).toBe(4301);
  one.send('client-data', { text: 'é'.repeat(5_120) }, 'private-a');
  expect(await one.complaint()).toBe(4301);
  one.send(`client-${'x'.repeat(194)}`, {}, 'private-a');
  expect(await one.complaint()).toBe(4301);
  one.send(`client-${'x'.repeat(193)}`, {}, 'private-a');
  expect(await one.settled()).toEqual([]);
});

test('ten client events per second are accepted, the eleventh is not; a second later they are again', async () => {
  const server = serve();
  const one = await server.connect();
  await one.subscribe('private-a');
  for (let count = 0; count < 10; count++) one.send('client-a', {}, 'private-a');
  expect(await one.settled()).toEqual([]);
  server.clock.advance(999);
  one.send('client-a', {}, 'private-a');
  expect(await one.complaint()).toBe(4301);
  server.clock.advance(1);
  one.send('client-a', {}, 'private-a');
  expect(await one.settled()).toEqual([]);
});
