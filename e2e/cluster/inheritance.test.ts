/** `conversations`: what a closed socket has not received continues on the next socket of its user, at whatever node. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { TestClient } from '../../packages/server/src/testing/client.ts';
import { payloadOf, reads, settled, started, textOf, write } from '../conversations-server.ts';
import { followed, getJson, login } from '../server-process.ts';
import { type AskedModel, askedModel } from './asked-model.ts';
import { type Cluster, LONG_LEASE, missing, startCluster, type ThreeNodes } from './nodes.ts';

setDefaultTimeout(60_000);

describe.skipIf(missing !== null)(`a closed socket${missing ? ` (not here: ${missing})` : ''}`, () => {
  let cluster: Cluster;
  let model: AskedModel;
  let nodes: ThreeNodes;
  let token = '';
  beforeAll(async () => {
    model = askedModel();
    cluster = await startCluster({ ...LONG_LEASE, ...model.settings });
    nodes = await cluster.startThree();
    token = await login(nodes[0], 'dev', 'dev-password');
  });
  afterAll(async () => {
    model?.stop();
    await cluster?.stop();
  });

  const open = (node: 0 | 1 | 2): Promise<TestClient> => nodes[node].connect(`/ws?token=${token}`);
  const headers = () => ({ authorization: `Bearer ${token}` });

  /** Loses the connection; resolves when its node has noticed. */
  async function cut(client: TestClient, id: string, node: 0 | 1 | 2): Promise<void> {
    client.socket.terminate();
    const url = `${nodes[node].http}/v1/sessions/${id}`;
    for (let left = 1; left > 0; await Bun.sleep(5)) {
      const { attached } = await getJson<{ attached: Record<string, number> }>(url, headers());
      left = attached.conversations ?? 0;
    }
  }

  /** Starts a conversation at the first node, of which the client reads this text; then the connection is lost. */
  async function cutAfter(text: string): Promise<string> {
    const client = await open(0);
    const id = await started(client);
    write(client, id);
    model.say(text);
    await reads(client, text);
    await cut(client, id, 0);
    return id;
  }

  test('whose answer goes on: the next one at another node gets the rest from the next character', async () => {
    const bystander = await open(1);
    await cutAfter('one two ');
    const next = await open(1);
    model.say('three ');
    await reads(next, 'three ');
    model.say('four');
    model.end();
    const frames = await next.until('workflow_step_complete');
    expect(textOf(frames)).toBe('four');
    const complete = frames.find(({ type }) => type === 'message_complete');
    expect(payloadOf(complete).content).toBe('one two three four');
    expect(await settled(bystander)).toEqual([]);
    for (const client of [bystander, next]) client.close();
  });

  test('whose answer went on meanwhile, and ended: the next one gets all that is missing, once', async () => {
    const id = await cutAfter('one ');
    model.say('two ');
    model.call('echo', { value: 'seen' });
    model.say('three');
    model.end();
    await followed({ ...nodes[0], headers: headers() }, id, (so) =>
      so.some(({ type }) => type === 'turn.ended'),
    );
    const next = await open(2);
    const frames = await next.until('workflow_step_complete');
    expect(textOf(frames)).toBe('two \n\nthree');
    expect(frames.map(({ type }) => type)).toContain('tool_executed');
    expect(payloadOf(frames.find(({ type }) => type === 'message_complete')).content).toBe(
      'one two \n\nthree',
    );
    const later = await open(0);
    expect(await settled(later)).toEqual([]);
    for (const client of [next, later]) client.close();
  });

  test('twice: the answer moves on with it', async () => {
    const id = await cutAfter('one ');
    const second = await open(1);
    model.say('two ');
    await reads(second, 'two ');
    await cut(second, id, 1);
    model.say('three ');
    const third = await open(2);
    await reads(third, 'three ');
    model.end();
    await third.until('message_complete');
    third.close();
  });
});
