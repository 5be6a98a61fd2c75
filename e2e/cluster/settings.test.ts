/** Settings that an admin changes on one node apply on all of them, whose clients learn of it. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connect } from '../../packages/sdk/src/index.ts';
import { TEST_USERS } from '../../packages/server/src/testing/server.ts';
import { within } from '../../packages/server/src/testing/until.ts';
import { login, type ServerProcess } from '../server-process.ts';
import { type Cluster, LONG_LEASE, missing, startCluster, type ThreeNodes } from './nodes.ts';

describe.skipIf(missing !== null)(`settings on three nodes${missing ? ` (${missing})` : ''}`, () => {
  let cluster: Cluster;
  let nodes: ThreeNodes;
  beforeAll(async () => {
    cluster = await startCluster({ ...LONG_LEASE, AUTH_USERS: TEST_USERS });
    nodes = await cluster.startThree();
  });
  afterAll(() => cluster?.stop());

  /** Resolves with the default model of the node after it has announced a change. */
  async function modelAfterChange(node: ServerProcess, onReady: () => void): Promise<string> {
    const client = connect({ url: node.http, token: await login(node, 'dev', 'dev-password') });
    for await (const { type } of client.activity()) {
      if (type === 'ready') onReady();
      if (type === 'settings.changed') break;
    }
    return (await client.server()).model;
  }

  test('a change is announced on every node, where it applies already', async () => {
    const ready = nodes.map(() => Promise.withResolvers<void>());
    const models = nodes.map((node, index) => modelAfterChange(node, () => ready[index]?.resolve()));
    await Promise.all(ready.map(({ promise }) => promise));
    const token = await login(nodes[0], 'ada', 'ada-password');
    const { settings } = connect({ url: nodes[0].http, token }).admin;
    const { version } = await settings.read();
    const values = { provider: 'openai', openaiBaseUrl: 'http://127.0.0.1:9/v1', model: 'tiny-1' };
    await settings.change({ version, values });
    expect(await within(Promise.all(models), 'a node announced no change')).toEqual([
      'tiny-1',
      'tiny-1',
      'tiny-1',
    ]);
  });
});
