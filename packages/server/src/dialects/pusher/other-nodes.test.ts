/** Channels whose subscribers are connected to different nodes. */
import { afterEach, expect, test } from 'bun:test';
import { type MemoryNetwork, openMemoryNetwork } from '../../cluster/memory-transport.ts';
import type { Transport } from '../../cluster/transport.ts';
import type { Authenticator } from '../../http/authenticator.ts';
import { type PusherTestServer, QUIET, type RawPusher, servePusher } from '../../testing/pusher.ts';
import { until } from '../../testing/until.ts';
import type { Limits } from './contract.ts';
import type { Application } from './server.ts';

type Node = PusherTestServer & { readonly transport: Transport; revoke(token: string): void };

const opened: Node[] = [];
let network: MemoryNetwork;
afterEach(async () => {
  const nodes = opened.splice(0);
  await Promise.all(nodes.map((node) => node.stop()));
  await Promise.all(nodes.map(({ transport }) => transport.close()));
});

function open(name: string, limits: Partial<Limits> = {}, changes: Partial<Application> = {}): Node {
  const transport = network.open(name, { log: QUIET });
  const watches = new Map<string, (reason: string) => void>();
  const authenticator = {
    onTokenRevoked(token: string, ended: (reason: string) => void) {
      watches.set(token, ended);
      return () => watches.delete(token);
    },
  } as unknown as Authenticator;
  const server = servePusher(limits, changes, { transport, authenticator });
  const node = { ...server, transport, revoke: (token: string) => watches.get(token)?.('revoked') };
  opened.push(node);
  return node;
}

async function openTwo(limits?: Partial<Limits>, changes?: Partial<Application>): Promise<[Node, Node]> {
  network = openMemoryNetwork();
  const [one, two] = [open('one', limits, changes), open('two', limits, changes)];
  await until(() => one.transport.others.nodes.length === 1 && two.transport.others.nodes.length === 1);
  return [one, two];
}

const trigger = (node: Node, body: object): Promise<Response> =>
  node.call('POST', '/apps/app-id/events', { name: 'news', data: '{}', ...body });

/** Resolves when everything that `from` has sent so far is delivered to the sockets of `to`. */
async function delivered(from: Node, client: RawPusher): Promise<string[]> {
  from.server.channels.broadcast('mark', 'mark', {});
  const frames = await client.client.until((frame) => frame.event === 'mark');
  return frames.slice(0, -1).map((frame) => String(frame.event));
}

const marked = async (node: Node): Promise<RawPusher> => {
  const client = await node.connect();
  await client.subscribe('mark');
  return client;
};

test('an event reaches the subscribers on every node once', async () => {
  const [one, two] = await openTwo();
  const [ann, bob] = [await marked(one), await marked(two)];
  await Promise.all([ann.subscribe('news'), bob.subscribe('news')]);
  expect((await trigger(one, { channel: 'news', data: '{"text":"hello"}' })).status).toBe(200);
  expect((await ann.received('news')).data).toEqual({ text: 'hello' });
  expect((await bob.received('news')).data).toEqual({ text: 'hello' });
  await trigger(one, { channel: 'news', socket_id: bob.socketId });
  expect(await delivered(one, ann)).toEqual(['news']);
  expect(await delivered(one, bob)).toEqual([]);
});

test('events that every node publishes itself stay on their node', async () => {
  const [one, two] = await openTwo();
  const [ann, bob] = [await marked(one), await marked(two)];
  await Promise.all([ann.subscribe('news'), bob.subscribe('news')]);
  one.server.channels.publish('news', 'own', {});
  expect(await delivered(one, ann)).toEqual(['own']);
  expect(await delivered(one, bob)).toEqual([]);
});

test('the last event of a cache channel is known on every node', async () => {
  const [one, two] = await openTwo();
  const bob = await marked(two);
  await trigger(one, { channel: 'cache-news', data: '{"text":"kept"}' });
  await delivered(one, bob);
  await bob.subscribe('cache-news');
  expect((await bob.received('news')).data).toEqual({ text: 'kept' });
});

test('a client event reaches the others on every node', async () => {
  const [one, two] = await openTwo();
  const [ann, bob] = [await marked(one), await marked(two)];
  await Promise.all([ann.subscribe('private-room'), bob.subscribe('private-room')]);
  ann.send('client-typing', { on: true }, 'private-room');
  expect((await bob.received('client-typing')).data).toEqual({ on: true });
  expect(await delivered(one, ann)).toEqual([]);
});

test('a presence channel has the members of every node', async () => {
  const [one, two] = await openTwo();
  const ann = await one.connect();
  await ann.subscribe('presence-room', { user_id: 'ann', user_info: { name: 'Ann' } });
  const bob = await two.connect();
  const welcome = await bob.subscribe('presence-room', { user_id: 'bob' });
  expect(welcome.data.presence).toEqual({
    ids: ['bob', 'ann'],
    hash: { bob: null, ann: { name: 'Ann' } },
    count: 2,
  });
  expect((await ann.received('pusher_internal:member_added')).data).toEqual({ user_id: 'bob' });
  bob.client.close();
  expect((await ann.received('pusher_internal:member_removed')).data).toEqual({ user_id: 'bob' });
});

test('a user with sockets on two nodes joins once and leaves once', async () => {
  const [one, two] = await openTwo();
  const ann = await marked(one);
  await ann.subscribe('presence-room', { user_id: 'ann' });
  const [bob, bobToo] = [await one.connect(), await two.connect()];
  await bob.subscribe('presence-room', { user_id: 'bob' });
  await bobToo.subscribe('presence-room', { user_id: 'bob' });
  expect(await delivered(two, ann)).toEqual(['pusher_internal:member_added']);
  const left = ann.received('pusher_internal:member_removed');
  bob.client.close();
  const state = () => one.server.channels.states({ names: ['presence-room'] })['presence-room'];
  await until(() => state()?.subscribers === 1);
  expect(await delivered(two, await marked(two))).toEqual([]);
  bobToo.client.close();
  expect((await left).data).toEqual({ user_id: 'bob' });
});

test('the members of a failed node leave', async () => {
  const [one, two] = await openTwo();
  const ann = await one.connect();
  await ann.subscribe('presence-room', { user_id: 'ann' });
  const bob = await two.connect();
  await bob.subscribe('presence-room', { user_id: 'bob' });
  await ann.received('pusher_internal:member_added');
  one.transport.registry.forget('two');
  expect((await ann.received('pusher_internal:member_removed')).data).toEqual({ user_id: 'bob' });
});

test('the member limit counts the members of all nodes', async () => {
  const [one, two] = await openTwo({ membersPerChannel: 1 });
  const ann = await one.connect();
  await ann.subscribe('presence-room', { user_id: 'ann' });
  const bob = await two.connect();
  bob.ask('presence-room', { user_id: 'bob' });
  expect((await bob.received('pusher:subscription_error')).data).toMatchObject({ type: 'LimitReached' });
});

test('a client that leaves while the members are read is not subscribed', async () => {
  const [, two] = await openTwo();
  const bob = await two.connect();
  bob.ask('presence-room', { user_id: 'bob' });
  bob.send('pusher:unsubscribe', { channel: 'presence-room' });
  await bob.settled();
  await Bun.sleep(10);
  expect(two.server.channels.states({ prefix: '' })).toEqual({});
});

test('counts include all nodes', async () => {
  const [one, two] = await openTwo();
  const [ann, bob, bobToo] = [await one.connect(), await two.connect(), await two.connect()];
  await ann.subscribe('presence-room', { user_id: 'ann' });
  await bob.subscribe('presence-room', { user_id: 'bob' });
  await bobToo.subscribe('presence-room', { user_id: 'bob' });
  await bob.subscribe('elsewhere');
  const get = async (path: string) => (await one.call('GET', `/apps/app-id/channels${path}`)).json();
  const counts = { user_count: 2, subscription_count: 3 };
  expect(await get('?filter_by_prefix=presence-&info=user_count,subscription_count')).toEqual({
    channels: { 'presence-room': counts },
  });
  expect(await get('')).toEqual({ channels: { 'presence-room': {}, elsewhere: {} } });
  expect(await get('/elsewhere')).toEqual({ occupied: true });
  expect(await get('/nowhere')).toEqual({ occupied: false });
  expect(await get('/presence-room/users')).toEqual({ users: [{ id: 'ann' }, { id: 'bob' }] });
  const triggered = await trigger(two, { channel: 'presence-room', info: 'user_count,subscription_count' });
  expect(await triggered.json()).toEqual({ channels: { 'presence-room': counts } });
});

test('a user is disconnected on every node', async () => {
  const [one, two] = await openTwo();
  const bob = await two.connect();
  two.server.connected.signIn(bob.socketId, 'bob');
  await one.call('POST', '/apps/app-id/users/bob/terminate_connections');
  expect(await bob.complaint()).toBe(4009);
});

test('a permit requested on another node opens the channel', async () => {
  const [one, two] = await openTwo({}, { known: true });
  const bob = await two.connect();
  bob.ask('private-session-1');
  expect((await bob.received('pusher:subscription_error')).data.status).toBe(403);
  await one.server.nodes?.permit(bob.socketId, 'private-session-1', null);
  await bob.subscribe('private-session-1');
});

test('a socket is closed when a token presented to another node is revoked', async () => {
  const [one, two] = await openTwo();
  const bob = await two.connect();
  await one.server.nodes?.permit(bob.socketId, null, 'token');
  expect(two.server.connected.isVouchedFor(bob.socketId)).toBe(true);
  one.revoke('token');
  expect(await bob.complaint()).toBe(4200);
});

test('a socket is told to reconnect when the node that watches its token fails', async () => {
  const [one, two] = await openTwo();
  const bob = await two.connect();
  await one.server.nodes?.permit(bob.socketId, null, 'token');
  two.transport.registry.forget('one');
  expect(await bob.complaint()).toBe(4200);
});

test('the number of tokens per socket is limited across nodes', async () => {
  const [one, two] = await openTwo();
  const bob = await two.connect();
  for (let token = 0; token < 16; token++)
    await one.server.nodes?.permit(bob.socketId, null, `token ${token}`);
  const more = one.server.nodes?.permit(bob.socketId, null, 'one more');
  await expect(more).rejects.toThrow('too many tokens');
});

test('a node that started later or was disconnected has the last event of a cache channel', async () => {
  const [one, two] = await openTwo();
  await trigger(one, { channel: 'cache-news', data: '{"text":"first"}' });
  const three = open('three');
  await until(() => three.transport.others.nodes.length === 2);
  const late = await three.connect();
  await late.subscribe('cache-news');
  expect((await late.received('news')).data).toEqual({ text: 'first' });
  network.cut('two');
  await trigger(one, { channel: 'cache-news', data: '{"text":"second"}' });
  await until(() => one.server.channels.last('cache-news')?.text.includes('second') ?? false);
  await Bun.sleep(20);
  network.repair('two');
  await until(() => two.transport.up && two.transport.others.nodes.length === 2);
  const back = await two.connect();
  await back.subscribe('cache-news');
  expect((await back.received('news')).data).toEqual({ text: 'second' });
  const nothing = await two.connect();
  await nothing.subscribe('cache-empty');
  await nothing.received('pusher:cache_miss');
});
