import { afterEach, expect, test } from 'bun:test';
import { type PusherTestServer, servePusher } from '../../testing/pusher.ts';
import type { Application } from './application.ts';
import { LIMITS, type Limits } from './limits.ts';
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
