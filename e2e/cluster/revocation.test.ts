/** A token that is revoked on one node is revoked on all of them. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { TEST_USERS } from '../../packages/server/src/testing/server.ts';
import { login, type ServerProcess } from '../server-process.ts';
import { bearer, endOf, openAll } from '../tokens/live.ts';
import { type Cluster, LONG_LEASE, missing, startCluster, type ThreeNodes } from './nodes.ts';

describe.skipIf(missing !== null)(`tokens on three nodes${missing ? ` (${missing})` : ''}`, () => {
  let cluster: Cluster;
  let nodes: ThreeNodes;
  beforeAll(async () => {
    cluster = await startCluster({ ...LONG_LEASE, AUTH_USERS: TEST_USERS });
    nodes = await cluster.startThree();
  });
  afterAll(() => cluster?.stop());

  const opened = (node: ServerProcess, token: string) =>
    openAll(
      {
        ...node,
        ws: node.http.replace('http', 'ws'),
        login: (username, password) => login(node, username, password),
      },
      'dev',
      token,
    );

  async function expectRevoked(watched: readonly ServerProcess[]): Promise<void> {
    const [lost, kept] = [
      await login(nodes[0], 'dev', 'dev-password'),
      await login(nodes[1], 'dev', 'dev-password'),
    ];
    const ending = (await Promise.all(watched.map((node) => opened(node, lost)))).flat();
    const staying = await opened(nodes[2], kept);
    const loggedOut = await fetch(`${nodes[0].http}/v1/auth/logout`, {
      method: 'POST',
      headers: bearer(lost),
    });
    expect(loggedOut.status).toBe(204);
    for (const { kind, ended } of ending)
      expect([kind, await ended]).toEqual([kind, endOf(kind, 'The token was revoked.')]);
    for (const node of nodes) {
      const asked = await fetch(`${node.http}/v1/auth/me`, { headers: bearer(lost) });
      expect(asked.status).toBe(401);
    }
    for (const { alive } of staying) await alive();
  }

  test('all connections of a token end, also on the other nodes', () => expectRevoked(nodes));

  test('a sign-in of the console holds on all nodes, and ends on all', async () => {
    const headers = { origin: nodes[0].http, 'content-type': 'application/json' };
    const body = JSON.stringify({ name: 'dev', password: 'dev-password' });
    const path = '/v1/auth/sign-in';
    const response = await fetch(nodes[0].http + path, { method: 'POST', headers, body });
    const { key } = (await response.json()) as { key: string };
    const cookie = String(response.headers.get('set-cookie')?.split(';')[0]);
    const sent = { cookie, 'x-parlance-sign-in': key, 'sec-fetch-site': 'same-origin' };
    const statuses = () =>
      Promise.all(
        nodes.map(async ({ http }) => (await fetch(`${http}/v1/auth/me`, { headers: sent })).status),
      );
    expect(await statuses()).toEqual([200, 200, 200]);
    const made = await fetch(`${nodes[1].http}/v1/auth/token`, { method: 'POST', headers: sent });
    const { access_token: token } = (await made.json()) as { access_token: string };
    const ending = (await Promise.all(nodes.map((node) => opened(node, token)))).flat();
    expect((await fetch(nodes[2].http + path, { method: 'DELETE', headers: sent })).status).toBe(204);
    for (const { kind, ended } of ending)
      expect([kind, await ended]).toEqual([kind, endOf(kind, 'The token was revoked.')]);
    expect(await statuses()).toEqual([401, 401, 401]);
  });

  test('they end while the bus is down', async () => {
    await cluster.redis.kill();
    await expectRevoked([nodes[1]]);
    await cluster.redis.restart();
  });
});
