import { afterEach, expect, test } from 'bun:test';
import { type PusherTestServer, servePusher, signedCall } from '../../testing/pusher.ts';
import type { Limits } from './contract.ts';
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

const EVENTS = '/apps/app-id/events';
const CHANNELS = { method: 'GET', path: '/apps/app-id/channels' };
const BATCH = '/apps/app-id/batch_events';
const event = (changes: object = {}) => ({ name: 'said', channel: 'a', data: '{"a":1}', ...changes });

const answer = async (response: Response) => [response.status, await response.json()] as const;

test('an event reaches the subscribers of each channel except the excluded socket', async () => {
  const { connect, call } = serve();
  const [one, two] = [await connect(), await connect()];
  for (const each of [one, two]) for (const channel of ['a', 'b']) await each.subscribe(channel);
  const triggered = { name: 'said', channels: ['a', 'b'], data: '{"a":1}', socket_id: one.socketId };
  expect(await answer(await call('POST', EVENTS, triggered))).toEqual([200, {}]);
  expect(await two.received('said')).toMatchObject({ channel: 'a', data: { a: 1 } });
  expect(await two.received('said')).toMatchObject({ channel: 'b', data: { a: 1 } });
  expect(await one.settled()).toEqual([]);
});

test('the response has the requested channel attributes', async () => {
  const { connect, call } = serve();
  const one = await connect();
  await one.subscribe('presence-a', { user_id: 'ann' });
  const channels = ['presence-a', 'b'];
  const asked = { name: 'said', channels, data: '', info: 'user_count,subscription_count,colour' };
  expect(await answer(await call('POST', EVENTS, asked))).toEqual([
    200,
    {
      channels: { 'presence-a': { user_count: 1, subscription_count: 1 }, b: { subscription_count: 0 } },
    },
  ]);
});

test('a batch is many events; its response has one entry for each if attributes are requested', async () => {
  const { connect, call } = serve();
  const one = await connect();
  await one.subscribe('a');
  expect(
    await answer(await call('POST', BATCH, { batch: [event({ name: 'x' }), event({ name: 'y' })] })),
  ).toEqual([200, {}]);
  await one.received('x');
  await one.received('y');
  const asked = { batch: [event({ info: 'subscription_count' }), event({ channel: 'b' })] };
  expect(await answer(await call('POST', BATCH, asked))).toEqual([
    200,
    { batch: [{ subscription_count: 1 }, {}] },
  ]);
});

const tenKilobytes = 'x'.repeat(10_240);
const refused: [why: string, path: string, body: unknown, status: number][] = [
  ['no JSON', EVENTS, '{', 400],
  ['no name', EVENTS, { channel: 'a', data: '' }, 400],
  ['a name of 201 characters', EVENTS, event({ name: 'x'.repeat(201) }), 400],
  ['a reserved name', EVENTS, event({ name: 'pusher_internal:member_added' }), 400],
  ['no channel', EVENTS, { name: 'said', data: '' }, 400],
  ['a channel and channels', EVENTS, event({ channels: ['b'] }), 400],
  ['no channels', EVENTS, { name: 'said', data: '', channels: [] }, 400],
  ['101 channels', EVENTS, { name: 'said', data: '', channels: Array(101).fill('a') }, 400],
  ['an invalid channel name', EVENTS, event({ channel: 'a b' }), 400],
  ['a channel of 201 characters', EVENTS, event({ channel: 'x'.repeat(201) }), 400],
  ['an invalid socket id', EVENTS, event({ socket_id: 'me' }), 400],
  ['more data than 10,240 bytes', EVENTS, event({ data: `${tenKilobytes}x` }), 413],
  ['a body that is too large', EVENTS, event({ data: 'x'.repeat(1_048_577) }), 413],
  ['11 events at once', BATCH, { batch: Array(11).fill(event()) }, 400],
  ['no events at all', BATCH, { batch: [] }, 400],
  ['an event of a batch with too much data', BATCH, { batch: [event({ data: `${tenKilobytes}x` })] }, 413],
];

for (const [why, path, body, status] of refused) {
  test(`${why}: ${status}, in plain text`, async () => {
    const response = await serve().call('POST', path, body);
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toStartWith('text/plain');
    expect(await response.text()).not.toBe('');
  });
}

test('values at the limits are accepted', async () => {
  const { call } = serve();
  const bodies = [
    event({ name: 'x'.repeat(200), channel: 'y'.repeat(200), data: tenKilobytes }),
    { name: 'said', data: { not: 'a string' }, channels: Array(100).fill('a') },
    event({ channel: '#server-to-user-ann' }),
  ];
  for (const body of bodies) expect((await call('POST', EVENTS, body)).status).toBe(200);
  expect((await call('POST', BATCH, { batch: Array(10).fill(event({ data: tenKilobytes })) })).status).toBe(
    200,
  );
});

test('no event of a batch is sent if one is refused', async () => {
  const { connect, call } = serve();
  const one = await connect();
  await one.subscribe('a');
  await call('POST', BATCH, { batch: [event(), event({ data: `${tenKilobytes}x` })] });
  expect(await one.settled()).toEqual([]);
});

test('occupied channels are listed by prefix, with the requested attributes', async () => {
  const { connect, call } = serve();
  const [one, two] = [await connect(), await connect()];
  await one.subscribe('news');
  for (const each of [one, two]) await each.subscribe('presence-a', { user_id: 'ann' });
  const list = async (query: string) => answer(await call('GET', `/apps/app-id/channels${query}`));
  expect(await list('')).toEqual([200, { channels: { news: {}, 'presence-a': {} } }]);
  expect(await list('?filter_by_prefix=presence-&info=user_count,subscription_count')).toEqual([
    200,
    { channels: { 'presence-a': { user_count: 1, subscription_count: 2 } } },
  ]);
  expect((await call('GET', '/apps/app-id/channels?info=user_count')).status).toBe(400);
});

test('one channel: whether it is occupied, the number of subscribers, the members', async () => {
  const { connect, call } = serve();
  const one = await connect();
  await one.subscribe('presence-a', { user_id: 'ann' });
  const get = async (path: string) => answer(await call('GET', `/apps/app-id/channels/${path}`));
  expect(await get('nothing')).toEqual([200, { occupied: false }]);
  expect(await get('presence-a?info=user_count,subscription_count')).toEqual([
    200,
    { occupied: true, user_count: 1, subscription_count: 1 },
  ]);
  expect(await get('presence-a/users')).toEqual([200, { users: [{ id: 'ann' }] }]);
  expect(await get('presence-empty/users')).toEqual([200, { users: [] }]);
  for (const path of ['news?info=user_count', 'news/users', 'a%20b'])
    expect((await call('GET', `/apps/app-id/channels/${path}`)).status).toBe(400);
});

test('the connections of a user are closed with 4009, those of others are not', async () => {
  const { connect, call, server } = serve();
  const [one, two] = [await connect(), await connect()];
  for (const [client, id] of [[one, 'ann'] as const, [two, 'bob'] as const]) {
    const user_data = JSON.stringify({ id });
    client.send('pusher:signin', {
      auth: userAuth(server.application, { socketId: client.socketId, userData: user_data }),
      user_data,
    });
    await client.received('pusher:signin_success');
  }
  expect(await answer(await call('POST', '/apps/app-id/users/ann/terminate_connections', {}))).toEqual([
    200,
    {},
  ]);
  expect(await one.complaint()).toBe(4009);
  expect((await one.client.closed).code).toBe(4009);
  expect(await two.settled()).toEqual([]);
});

test('unsigned, wrongly signed and expired requests are 401; another application and unknown paths 404', async () => {
  const { http, call, clock, server } = serve();
  const plain = await fetch(http + EVENTS, { method: 'POST', body: JSON.stringify(event()) });
  expect([plain.status, await plain.text()]).toEqual([401, 'Unknown auth_key']);
  const { application } = server;
  const wrong = { ...application, secret: 'guessed' };
  expect(
    (
      await signedCall(
        http,
        { application: wrong, now: clock.now() },
        { method: 'POST', path: EVENTS, body: event() },
      )
    ).status,
  ).toBe(401);
  expect((await signedCall(http, { application, now: clock.now() - 601_000 }, CHANNELS)).status).toBe(401);
  expect((await call('GET', '/apps/other/channels')).status).toBe(404);
  expect((await call('GET', '/apps/app-id/nothing')).status).toBe(404);
});

test('a refusal does not reveal the correct signature', async () => {
  const { http, clock, server } = serve();
  const wrong = { ...server.application, secret: 'guessed' };
  const response = await signedCall(http, { application: wrong, now: clock.now() }, CHANNELS);
  expect(await response.text()).toBe('Invalid signature');
});

test('with the default secret, requests cannot list session channels', async () => {
  const { connect, call, server } = serve({}, { known: true });
  const one = await connect();
  server.connected.permit(one.socketId, 'private-session-1');
  await one.subscribe('private-session-1');
  await one.subscribe('news');
  expect(await answer(await call('GET', '/apps/app-id/channels'))).toEqual([200, { channels: { news: {} } }]);
  const forbidden = [
    call('GET', '/apps/app-id/channels/private-session-1'),
    call('GET', '/apps/app-id/channels/presence-session-1/users'),
  ];
  for (const response of await Promise.all(forbidden)) expect(response.status).toBe(403);
});
