/** The official client packages against the whole server. */
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import Echo from 'laravel-echo';
import Backend from 'pusher';
import Pusher, { type Channel, type PresenceChannel } from 'pusher-js';
import { startTestServer, type TestServer } from '../../testing/server.ts';

const APP = { appId: 'app-id', key: 'app-key', secret: 'a secret of our own' };
const MASTER_KEY = Buffer.from('x'.repeat(32)).toString('base64');

let server: TestServer;
let backend: Backend;
beforeAll(async () => {
  server = await startTestServer({ PARLANCE_AUTH: 'required', SOCKUDO_APP_SECRET: APP.secret });
  backend = new Backend({
    ...APP,
    host: '127.0.0.1',
    port: String(server.running.port),
    useTLS: false,
    encryptionMasterKeyBase64: MASTER_KEY,
  });
});
afterAll(() => server.stop());

const open: Pusher[] = [];
afterEach(() => {
  for (const client of open.splice(0)) client.disconnect();
});

type Endpoints = Partial<ConstructorParameters<typeof Pusher>[1]>;

const address = () => ({
  cluster: 'none',
  wsHost: '127.0.0.1',
  wsPort: server.running.port,
  forceTLS: false,
  enabledTransports: ['ws' as const],
});

/** Signs like the server of an application, with the `pusher` package. */
const signedBy = (user_id: string): Endpoints => ({
  channelAuthorization: {
    endpoint: '',
    transport: 'ajax',
    customHandler: ({ socketId, channelName }, done) =>
      done(
        null,
        backend.authorizeChannel(
          socketId,
          channelName,
          channelName.startsWith('presence-')
            ? { user_id, user_info: { name: user_id.toUpperCase() } }
            : undefined,
        ),
      ),
  },
});

/** Authorised by the server itself, with a bearer token. */
const permitted = async (name: string): Promise<Endpoints> => {
  const headers = { authorization: `Bearer ${await server.login(name, `${name}-password`)}` };
  return {
    channelAuthorization: { endpoint: `${server.http}/api/pusher/auth`, transport: 'ajax', headers },
    userAuthentication: { endpoint: `${server.http}/api/pusher/user-auth`, transport: 'ajax', headers },
  };
};

function connect(options: Endpoints = {}, key = APP.key): Pusher {
  const client = new Pusher(key, { ...address(), ...options });
  open.push(client);
  return client;
}

type Bindable = { bind(event: string, callback: (data: never, more: never) => void): unknown };

function happens<Data>(source: Bindable, event: string): Promise<Data> {
  const { promise, resolve } = Promise.withResolvers<Data>();
  source.bind(event, (data) => resolve(data));
  return promise;
}

async function subscribe(client: Pusher, name: string): Promise<Channel> {
  const channel = client.subscribe(name);
  await happens(channel, 'pusher:subscription_succeeded');
  return channel;
}

test('pusher-js connects, subscribes and receives what the pusher package triggers', async () => {
  const client = connect();
  const channel = await subscribe(client, 'news');
  const received = happens(channel, 'said');
  expect((await backend.trigger('news', 'said', { text: 'hello' })).status).toBe(200);
  expect(await received).toEqual({ text: 'hello' });
  expect(client.connection.socket_id).toMatch(/^\d+\.\d+$/);
});

test('an event to many channels skips the excluded socket', async () => {
  const [one, two] = [connect(), connect()];
  const [left, right] = [await subscribe(one, 'left'), await subscribe(two, 'right')];
  await subscribe(one, 'right');
  const seen: string[] = [];
  one.bind_global((event: string) => seen.push(event));
  const received = [happens(two.channel('right'), 'said'), happens(left, 'after')];
  await backend.trigger(['left', 'right'], 'said', 'plain', { socket_id: one.connection.socket_id });
  await backend.trigger('left', 'after', {});
  await Promise.all(received);
  expect(right.subscribed).toBe(true);
  expect(seen).not.toContain('said');
});

test('a batch arrives in order', async () => {
  const channel = await subscribe(connect(), 'batched');
  const seen: unknown[] = [];
  const done = happens(channel, 'last');
  channel.bind_global((event: string, data: unknown) => seen.push([event, data]));
  await backend.triggerBatch([
    { channel: 'batched', name: 'first', data: { n: 1 } },
    { channel: 'batched', name: 'last', data: { n: 2 } },
  ]);
  await done;
  expect(seen).toEqual([
    ['first', { n: 1 }],
    ['last', { n: 2 }],
  ]);
});

test('a private channel opens only with the token of the owner of the session', async () => {
  const name = `private-session-${crypto.randomUUID()}`;
  const uma = await permitted('uma');
  await subscribe(connect(uma), name);
  await subscribe(connect(uma), 'private-user-uma');
  const refused = connect(uma).subscribe('private-user-dev');
  expect(await happens<object>(refused, 'pusher:subscription_error')).toMatchObject({ status: 403 });
});

test('a signature with another secret is a subscription error', async () => {
  const stranger = new Backend({ ...APP, secret: 'guessed', cluster: 'none' });
  const client = connect({
    channelAuthorization: {
      endpoint: '',
      transport: 'ajax',
      customHandler: ({ socketId, channelName }, done) =>
        done(null, stranger.authorizeChannel(socketId, channelName)),
    },
  });
  const channel = client.subscribe('private-room');
  expect(await happens<object>(channel, 'pusher:subscription_error')).toMatchObject({ status: 401 });
});

test('client events reach the other members of a presence channel, with their sender', async () => {
  const [ann, bob] = [connect(signedBy('ann')), connect(signedBy('bob'))];
  const from = await subscribe(ann, 'presence-talk');
  const to = await subscribe(bob, 'presence-talk');
  const { promise, resolve } = Promise.withResolvers<unknown[]>();
  to.bind('client-typing', (data: unknown, { user_id }: { user_id: string }) => resolve([data, user_id]));
  expect(from.trigger('client-typing', { on: true })).toBe(true);
  expect(await promise).toEqual([{ on: true }, 'ann']);
});

test('presence: members, joins and leaves, one member for two sockets of a user', async () => {
  const ann = (await subscribe(connect(signedBy('ann')), 'presence-room')) as PresenceChannel;
  const added = happens<{ id: string; info: unknown }>(ann, 'pusher:member_added');
  const [bob, bobToo] = [connect(signedBy('bob')), connect(signedBy('bob'))];
  const room = (await subscribe(bob, 'presence-room')) as PresenceChannel;
  expect(await added).toEqual({ id: 'bob', info: { name: 'BOB' } });
  expect([room.members.count, room.members.me]).toEqual([2, { id: 'bob', info: { name: 'BOB' } }]);
  await subscribe(bobToo, 'presence-room');
  const info = await backend.get({
    path: '/channels/presence-room',
    params: { info: 'user_count,subscription_count' },
  });
  expect(await info.json()).toEqual({ occupied: true, user_count: 2, subscription_count: 3 });
  const users = await backend.get({ path: '/channels/presence-room/users' });
  expect(await users.json()).toEqual({ users: [{ id: 'ann' }, { id: 'bob' }] });
  const removed = happens<{ id: string }>(ann, 'pusher:member_removed');
  bob.disconnect();
  bobToo.unsubscribe('presence-room');
  expect((await removed).id).toBe('bob');
  expect(ann.members.count).toBe(1);
  const list = await backend.get({
    path: '/channels',
    params: { filter_by_prefix: 'presence-', info: 'user_count' },
  });
  expect(await list.json()).toMatchObject({ channels: { 'presence-room': { user_count: 1 } } });
});

test('a user signs in with its token, receives events, and can be disconnected', async () => {
  const client = connect(await permitted('dev'));
  client.signin();
  const received = happens(client.user, 'note');
  await subscribe(client, 'news');
  await client.user.signinDonePromise;
  // The client subscribes to the user channel in the background: after one round trip it is subscribed.
  await subscribe(client, 'later');
  await backend.sendToUser('dev', 'note', { n: 1 });
  expect(await received).toEqual({ n: 1 });
  const closed = happens<{ current: string }>(client.connection, 'disconnected');
  await backend.terminateUserConnections('dev');
  await closed;
});

test('a cache channel sends its last event to later subscribers', async () => {
  const missed = connect().subscribe('cache-score');
  await happens(missed, 'pusher:cache_miss');
  await backend.trigger('cache-score', 'score', { home: 1 });
  const late = connect().subscribe('cache-score');
  expect(await happens(late, 'score')).toEqual({ home: 1 });
});

test('an encrypted channel is passed through: both ends can decrypt', async () => {
  const channel = await subscribe(connect(signedBy('ann')), 'private-encrypted-room');
  const received = happens(channel, 'said');
  await backend.trigger('private-encrypted-room', 'said', { a: 1 });
  expect(await received).toEqual({ a: 1 });
});

test('an unknown key is refused permanently', async () => {
  const client = connect({}, 'nobody');
  const error = await happens<{ data: { code: number } }>(client.connection, 'error');
  expect(error).toMatchObject({ error: { data: { code: 4001 } } });
});

test('events that are too large are refused with 413', async () => {
  await expect(backend.trigger('news', 'said', 'x'.repeat(10_241))).rejects.toMatchObject({ status: 413 });
});

test('laravel-echo: public, private and presence channels, and whispers', async () => {
  const echoOf = (user: string) =>
    new Echo({ broadcaster: 'pusher', key: APP.key, client: connect(signedBy(user)), namespace: false });
  const [ann, bob] = [echoOf('ann'), echoOf('bob')];
  const news = Promise.withResolvers<unknown>();
  const ready = Promise.withResolvers<void>();
  ann
    .channel('echo-news')
    .listen('said', news.resolve)
    .subscribed(() => ready.resolve());
  await ready.promise;
  await backend.trigger('echo-news', 'said', { n: 1 });
  expect(await news.promise).toEqual({ n: 1 });

  const here = Promise.withResolvers<unknown>();
  const joining = Promise.withResolvers<unknown>();
  ann.join('echo-room').here(here.resolve).joining(joining.resolve);
  expect(await here.promise).toEqual([{ name: 'ANN' }]);
  bob.join('echo-room');
  expect(await joining.promise).toEqual({ name: 'BOB' });

  const [annReady, bobReady, whisper] = Array.from({ length: 3 }, () => Promise.withResolvers<unknown>());
  ann
    .private('echo-talk')
    .listenForWhisper('typing', (data: unknown) => whisper?.resolve(data))
    .subscribed(() => annReady?.resolve(null));
  const talk = bob.private('echo-talk').subscribed(() => bobReady?.resolve(null));
  await Promise.all([annReady?.promise, bobReady?.promise]);
  talk.whisper('typing', { on: true });
  expect(await whisper?.promise).toEqual({ on: true });
  for (const echo of [ann, bob]) echo.disconnect();
});
