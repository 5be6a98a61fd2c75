/** Browsers on another node than the one that drives their session. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { DurableEvent } from '../../packages/protocol/src/index.ts';
import type { AnyFrame, TestClient } from '../../packages/server/src/testing/client.ts';
import { registration } from '../../packages/server/src/testing/extension.ts';
import { browse } from '../fake-browser.ts';
import { durableOf, followed, login, postJson, type ServerProcess } from '../server-process.ts';
import { form } from '../sites.ts';
import { type Cluster, LONG_LEASE, missing, startCluster, type ThreeNodes } from './nodes.ts';

const ended = (events: readonly DurableEvent[]): boolean => events.some(({ type }) => type === 'turn.ended');

describe.skipIf(missing !== null)(`browsers on three nodes${missing ? ` (${missing})` : ''}`, () => {
  let cluster: Cluster;
  let nodes: ThreeNodes;
  let token = '';
  beforeAll(async () => {
    cluster = await startCluster({ ...LONG_LEASE, PARLANCE_OFFLINE_DELAY: '0' });
    nodes = await cluster.startThree();
    token = await login(nodes[0], 'dev', 'dev-password');
  });
  afterAll(() => cluster?.stop());

  const at = (node: ServerProcess) => ({ ...node, headers: { authorization: `Bearer ${token}` } });

  /** A browser with one capability, on that node. */
  async function browser(node: ServerProcess): Promise<TestClient> {
    const client = await node.connect('/');
    client.send(registration(['open_url'], { sessionToken: token }));
    await client.next('registration_confirmed');
    return client;
  }

  const ask = async (node: ServerProcess, session: string): Promise<void> => {
    const parts = [{ type: 'text', text: `open https://example.com/${session}` }];
    const { http, headers } = at(node);
    const sent = await postJson(
      `${http}/v1/sessions/${session}/commands`,
      { type: 'input.submit', parts },
      headers,
    );
    expect(sent.status).toBe(200);
  };

  const answer = (client: TestClient, { executionId, parameters }: AnyFrame): void => {
    const result = { title: 'A page', url: (parameters as { url: string }).url };
    const head = { id: 'msg_1_answer', type: 'tool_execution_response', timestamp: Date.now() };
    client.send({ ...head, executionId, success: true, result, executionTime: 1 });
  };

  const outcomes = (events: readonly DurableEvent[]): string[] =>
    events.flatMap((event) => (event.type === 'tool.ended' ? [event.outcome] : []));

  test('a tool runs once, in a browser on another node', async () => {
    const client = await browser(nodes[1]);
    await ask(nodes[0], 'opened');
    const request = await client.next('tool_execution_request');
    expect(request.parameters).toMatchObject({ url: 'https://example.com/opened' });
    answer(client, request);
    const events = await followed(at(nodes[2]), 'opened', ended);
    expect(outcomes(events)).toEqual(['ok']);
    expect(client.frames.filter(({ type }) => type === 'tool_execution_request')).toHaveLength(1);
    client.close();
  });

  test('a call ends when its browser on another node disconnects', async () => {
    const client = await browser(nodes[2]);
    await ask(nodes[0], 'left');
    await client.next('tool_execution_request');
    client.close();
    const events = await followed(at(nodes[1]), 'left', ended);
    expect(outcomes(events)).not.toContain('ok');
    expect(outcomes(events)).toHaveLength(1);
  });

  test('a task completes with each request on another node', async () => {
    let calls = 0;
    const balanced = {
      get http() {
        return (nodes[calls++ % 3] ?? nodes[0]).http;
      },
    };
    const query = 'type Ada into the name field and click the Submit button';
    const spread = await browse(balanced, token, { site: form, query });
    const single = await browse(nodes[0], token, { site: form, query });
    expect(calls).toBeGreaterThan(2);
    expect(spread.actions).toEqual(single.actions);
    expect(spread.actions.at(-1)).toBe('finish()');
    expect(spread.state).toEqual(single.state);
    const [there, here] = await Promise.all([
      durableOf(at(nodes[0]), spread.sessionId),
      durableOf(at(nodes[0]), single.sessionId),
    ]);
    expect(there.map(({ type }) => type)).toEqual(here.map(({ type }) => type));
  });
});
