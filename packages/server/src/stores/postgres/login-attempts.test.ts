import { describe, expect, test } from 'bun:test';
import { SQL } from 'bun';
import { loginAttemptsContract } from '../../testing/stores/contract/login-attempts.ts';
import { noPostgres, openNode, testServer } from '../../testing/stores/postgres.ts';

describe.skipIf(noPostgres)('login attempts in PostgreSQL', () => {
  const server = testServer();

  loginAttemptsContract(async (limits) =>
    (await openNode(await server().newDatabase())).loginAttempts(limits),
  );

  test('are counted for all nodes', async () => {
    const url = await server().newDatabase();
    const nodes = await Promise.all([openNode(url), openNode(url), openNode(url)]);
    const counters = nodes.map((node) => node.loginAttempts({ attempts: 4 }));
    const tried: boolean[] = [];
    for (let round = 0; round < 3; round++)
      for (const counter of counters) tried.push((await counter.begin('ann', 'evil')).ok);
    expect(tried.filter((ok) => ok).length).toBe(4);
    await Promise.all(nodes.map((node) => node.close()));
  });

  test('end with their window', async () => {
    const url = await server().newDatabase();
    const node = await openNode(url);
    const attempts = node.loginAttempts({ attempts: 1 });
    await attempts.begin('ann', 'evil');
    expect((await attempts.begin('ann', 'evil')).ok).toBe(false);
    await using sql = new SQL(url, { max: 1 });
    await sql`UPDATE login_attempts SET until = now() - INTERVAL '1 second'`;
    expect((await attempts.begin('ann', 'evil')).ok).toBe(true);
    expect((await attempts.begin('ann', 'evil')).ok).toBe(false);
    await node.close();
  });
});
