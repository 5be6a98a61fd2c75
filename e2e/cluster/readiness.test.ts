/** Readiness and liveness probes while PostgreSQL does not respond. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { until } from '../../packages/server/src/testing/until.ts';
import { login, type ServerProcess, submit } from '../server-process.ts';
import { type Cluster, missing, startCluster } from './nodes.ts';

describe.skipIf(missing !== null)(`probes of a node${missing ? ` (not here: ${missing})` : ''}`, () => {
  let cluster: Cluster;
  let node: ServerProcess;
  beforeAll(async () => {
    cluster = await startCluster({ PARLANCE_LEASE: '1500' });
    node = await cluster.start();
  });
  afterAll(() => cluster?.stop());

  const health = async () => (await fetch(`${node.http}/health`)).status;

  /** Polls until the status is the expected one. The node must stay alive. */
  const readyWith = (status: number): Promise<unknown> =>
    until(async () => {
      const answer = await fetch(`${node.http}/ready`);
      const body: unknown = await answer.json();
      expect(await health()).toBe(200);
      return answer.status === status && body;
    });

  test('it is not ready while the database is frozen, stays alive, and is ready again afterwards', async () => {
    expect(await readyWith(200)).toEqual({ status: 'ready' });
    cluster.postgres.pause();
    try {
      expect(await readyWith(503)).toMatchObject({
        status: 'unavailable',
        reason: 'storage_unavailable',
        detail: expect.stringMatching(/database/),
      });
      expect(await submit(node, 'one', 'Hi')).toBe(false);
      expect(await readyWith(503)).toMatchObject({ reason: 'storage_unavailable' });
    } finally {
      cluster.postgres.resume();
    }
    expect(await readyWith(200)).toEqual({ status: 'ready' });
    expect(await submit(node, 'one', 'Hi')).toBe(true);
  });

  test('it is not ready while the database is down, and ready again when it is back', async () => {
    const token = await login(node, 'dev', 'dev-password');
    await cluster.postgres.kill();
    expect(await readyWith(503)).toMatchObject({ reason: 'storage_unavailable' });
    // A token that cannot be checked is not an invalid one: the client reconnects later.
    expect(await closeCode(`${node.http.replace('http', 'ws')}/ws?token=${token}`)).toBe(1013);
    await cluster.postgres.restart();
    expect(await readyWith(200)).toEqual({ status: 'ready' });
  });

  test('it stays ready without the bus', async () => {
    await cluster.redis.kill();
    await until(() => degraded());
    expect(await readyWith(200)).toEqual({ status: 'ready' });
    await cluster.redis.restart();
  });

  const closeCode = (url: string): Promise<number> =>
    new Promise((resolve) => {
      new WebSocket(url).addEventListener('close', ({ code }) => resolve(code));
    });

  const degraded = async (): Promise<boolean> => {
    const metrics = await (await fetch(`${node.http}/metrics`)).text();
    return /^parlance_bus_up 0$/m.test(metrics);
  };
});
