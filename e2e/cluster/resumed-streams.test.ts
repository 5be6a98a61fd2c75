/** `conversations`: unsent text of a closed socket continues on the next socket of its user, on any node. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { TestClient } from '../../packages/server/src/testing/client.ts';
import { payloadOf, reads, settled, started, textOf, write } from '../conversations-server.ts';
import { type DictatedModel, dictatedModel } from '../scripted-model.ts';
import { followed, getJson, login } from '../server-process.ts';
import { type Cluster, LONG_LEASE, missing, startCluster, type ThreeNodes } from './nodes.ts';

describe.skipIf(missing !== null)(`a closed socket${missing ? ` (not here: ${missing})` : ''}`, () => {
  let cluster: Cluster;
  let model: DictatedModel;
  let nodes: ThreeNodes;
  let token = '';
  beforeAll(async () => {
    model = dictatedModel();
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

  /** Drops the connection; resolves when its node has noticed. */
  async function cut(client: TestClient, id: string, node: 0 | 1 | 2): Promise<void> {
    client.socket.terminate();
    const url = `${nodes[node].http}/v1/sessions/${id}`;
    for (let left = 1; left > 0; await Bun.sleep(5)) {
      const { attached } = await getJson<{ attached: Record<string, number> }>(url, headers());
      left = attached.conversations ?? 0;
    }
  }

  /** Starts a conversation on the first node, and drops the connection after the client has read this text. */
  async function cutAfter(text: string): Promise<string> {
    const client = await open(0);
    const id = await started(client);
    write(client, id);
    model.say(text);
    await reads(client, text);
    await cut(client, id, 0);
    return id;
  }

  test('whose answer continues: the next socket on another node gets the rest from the next character', async () => {
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
    for (const client of [bystander, next]) client.socket.close(1001);
  });

  test('whose answer continued and ended: the next socket gets the missing rest, once', async () => {
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
    for (const client of [next, later]) client.socket.close(1001);
  });

  test('and another one of the user on another node: the answer continues where it is named', async () => {
    const other = await open(1);
    const idle = await started(other);
    const id = await cutAfter('one ');
    await cut(other, idle, 1);
    const [second, first] = [await open(0), await open(2)];
    for (const tab of [first, second])
      expect(await settled(tab)).toEqual([
        expect.objectContaining({
          type: 'error',
          payload: expect.objectContaining({ code: 'stream_error' }),
        }),
      ]);
    model.say('two');
    model.end();
    await followed({ ...nodes[0], headers: headers() }, id, (so) =>
      so.some(({ type }) => type === 'turn.ended'),
    );
    write(first, id);
    const frames = await first.until('workflow_step_complete');
    expect(textOf(frames)).toBe('two');
    expect(payloadOf(frames.find(({ type }) => type === 'message_complete')).content).toBe('one two');
    model.say('three');
    model.end();
    expect(textOf(await first.until('workflow_step_complete'))).toBe('three');
    expect(await settled(second)).toEqual([]);
    write(second, idle);
    model.say('mine');
    model.end();
    expect(textOf(await second.until('workflow_step_complete'))).toBe('mine');
    for (const client of [first, second]) client.socket.close(1001);
  });

  test('twice: the answer continues each time', async () => {
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
    third.socket.close(1001);
  });
});
