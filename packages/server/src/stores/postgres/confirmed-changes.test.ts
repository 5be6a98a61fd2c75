import { describe, expect, test } from 'bun:test';
import { noPostgres, openNode, testServer } from '../../testing/stores/postgres.ts';

const UNTIL = Date.now() + 60_000;

describe.skipIf(noPostgres)('a revocation on one of two nodes', () => {
  const server = testServer();

  async function twoNodes() {
    const url = await server().newDatabase();
    const [here, there] = [await openNode(url), await openNode(url)];
    let noticed = 0;
    there.revocations.follow(() => noticed++);
    return {
      here,
      there,
      noticed: () => noticed,
      close: () => Promise.all([here.close(), there.close()]),
    };
  }

  test('resolves when the other one has learned of it by its heartbeat', async () => {
    const { here, noticed, close } = await twoNodes();
    await here.revocations.add('token', UNTIL);
    expect(noticed()).toBeGreaterThan(0);
    await close();
  });

  test('resolves when the other one has confirmed it', async () => {
    const { here, there, noticed, close } = await twoNodes();
    const asked: string[] = [];
    here.changes.confirmWith(async (node) => {
      asked.push(node);
      there.changes.notify();
    });
    await here.revocations.add('token', UNTIL);
    expect(asked).toEqual([there.leases.node]);
    expect(noticed()).toBeGreaterThan(0);
    await close();
  });

  test('does not wait for a node that has left', async () => {
    const { here, there, close } = await twoNodes();
    await there.close();
    const asked: string[] = [];
    here.changes.confirmWith(async (node) => void asked.push(node));
    await here.revocations.add('token', UNTIL);
    expect(asked).toEqual([]);
    await close();
  });
});
