/** Pusher channels whose subscribers are connected to different nodes. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { APPLICATION, RawPusher, signedCall } from '../../packages/server/src/testing/pusher.ts';
import { browse } from '../fake-browser.ts';
import { login, postJson, type ServerProcess } from '../server-process.ts';
import { form } from '../sites.ts';
import { type Cluster, LONG_LEASE, missing, startCluster, type ThreeNodes } from './nodes.ts';

describe.skipIf(missing !== null)(`channels on three nodes${missing ? ` (${missing})` : ''}`, () => {
  let cluster: Cluster;
  let nodes: ThreeNodes;
  beforeAll(async () => {
    cluster = await startCluster({ ...LONG_LEASE, PARLANCE_OFFLINE_DELAY: '0' });
    nodes = await cluster.startThree();
  });
  afterAll(() => cluster?.stop());

  const connect = async ({ http }: ServerProcess): Promise<RawPusher> =>
    (await RawPusher.connect(http.replace('http', 'ws'), APPLICATION)).greeted();
  const connectAll = () => Promise.all(nodes.map(connect));
  const trigger = (node: ServerProcess, body: object) =>
    signedCall(
      node.http,
      { application: APPLICATION },
      { method: 'POST', path: '/apps/app-id/events', body: { name: 'news', data: '{}', ...body } },
    );

  test('an event triggered on one node reaches the subscribers on all nodes, once and in order', async () => {
    const all = await connectAll();
    await Promise.all(all.map((client) => client.subscribe('news')));
    const count = 50;
    for (let number = 1; number <= count; number++) {
      const sent = await trigger(nodes[0], { channel: 'news', data: JSON.stringify({ number }) });
      expect(sent.status).toBe(200);
    }
    await trigger(nodes[0], { channel: 'news', name: 'last' });
    for (const { client } of all) {
      const frames = await client.until((frame) => frame.event === 'last');
      const received = frames
        .filter(({ event }) => event === 'news')
        .map(({ data }) => JSON.parse(String(data)));
      expect(received).toEqual(Array.from({ length: count }, (_, index) => ({ number: index + 1 })));
    }
  });

  test('members and their events are known on every node', async () => {
    const [ann, bob, cleo] = await connectAll();
    if (!ann || !bob || !cleo) throw new Error('expected three clients');
    await ann.subscribe('presence-room', { user_id: 'ann' });
    await bob.subscribe('presence-room', { user_id: 'bob' });
    expect((await ann.received('pusher_internal:member_added')).data).toEqual({ user_id: 'bob' });
    const welcome = await cleo.subscribe('presence-room', { user_id: 'cleo' });
    expect((welcome.data.presence as { ids: string[] }).ids.toSorted()).toEqual(['ann', 'bob', 'cleo']);
    await Promise.all([ann, bob].map((one) => one.received('pusher_internal:member_added')));
    ann.send('client-typing', { on: true }, 'presence-room');
    for (const other of [bob, cleo])
      expect(await other.received('client-typing')).toMatchObject({ data: { on: true }, user_id: 'ann' });
    bob.client.close();
    for (const other of [ann, cleo])
      expect((await other.received('pusher_internal:member_removed')).data).toEqual({ user_id: 'bob' });
  });

  test('side panels on all nodes receive the messages of a task', async () => {
    const token = await login(nodes[0], 'dev', 'dev-password');
    const headers = { authorization: `Bearer ${token}` };
    const sessionId = crypto.randomUUID();
    const begun = await postJson(`${nodes[0].http}/api/session/init`, { sessionId, url: form.url }, headers);
    expect(begun.status).toBe(200);
    const channel = `private-session-${sessionId}`;
    const panels = await Promise.all(
      nodes.map(async (node) => {
        const panel = await connect(node);
        const asked = { socket_id: panel.socketId, channel_name: channel };
        const { body } = await postJson(`${node.http}/api/pusher/auth`, asked, headers);
        panel.send('pusher:subscribe', { channel, auth: body.auth });
        await panel.received('pusher_internal:subscription_succeeded');
        return panel;
      }),
    );
    const query = 'type Ada into the name field and click the Submit button';
    const { bodies } = await browse(nodes[1], token, { site: form, query, sessionId });
    const received = await Promise.all(
      panels.map(async ({ client }) => {
        const frames = await client.until(
          ({ event, data }) => event === 'interact_response' && String(data).includes('finish()'),
        );
        return frames.map(({ event, data }) => ({ event, data: JSON.parse(String(data)) }));
      }),
    );
    for (const frames of received) {
      expect(frames.filter(({ event }) => event === 'interact_response')).toHaveLength(bodies.length);
      const numbers = frames.flatMap(({ event, data }) =>
        event === 'new_message' ? [data.message.sequenceNumber] : [],
      );
      expect(numbers).toEqual(numbers.map((_, index) => index));
      expect(numbers.length).toBeGreaterThan(bodies.length);
    }
  });
});
