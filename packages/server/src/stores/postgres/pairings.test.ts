import { describe, expect, test } from 'bun:test';
import { SQL } from 'bun';
import type { Pairing } from '../../accounts/store.ts';
import { noPostgres, openNode, testServer } from '../../testing/stores/postgres.ts';
import { until } from '../../testing/until.ts';

const PAIRING: Pairing = {
  id: 'a',
  hash: 'a'.repeat(64),
  origin: `chrome-extension://${'a'.repeat(32)}`,
  name: 'extension',
  createdAt: 1,
  owner: 'ada',
  role: 'user',
  key: 'k',
  allowedAt: 2,
  expiresAt: null,
  lastUsedAt: null,
};

const KEY = {
  id: 'k',
  owner: 'ada',
  name: 'key',
  role: 'user',
  dialects: null,
  administration: false,
  hash: 'k',
  createdAt: 1,
  expiresAt: null,
  lastUsedAt: null,
} as const;

describe.skipIf(noPostgres)('a pairing that is approved while', () => {
  const server = testServer();

  test.each([
    ['its API key is revoked', "DELETE FROM api_keys WHERE id = 'k'"],
    ['its user is removed', "DELETE FROM users WHERE name = 'ada'"],
  ])('%s is refused, and not an error', async (_, removal) => {
    const url = await server().newDatabase();
    const store = await openNode(url);
    await using sql = new SQL(url, { max: 1 });
    await store.put({ name: 'ada', role: 'user', passwordHash: 'hash', createdAt: 1 });
    await store.apiKeys.add(KEY, 10);
    await sql.unsafe(`BEGIN; ${removal}`);
    const added = store.pairings.add(PAIRING);
    await until(
      async () => (await sql`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'`).length > 0,
    );
    await sql.unsafe('COMMIT');
    expect(await added).toBe(false);
    expect(await store.pairings.list()).toEqual([]);
    await store.close();
  });

  test('its API key is revoked a moment later ends with the key', async () => {
    const url = await server().newDatabase();
    const store = await openNode(url);
    await store.put({ name: 'ada', role: 'user', passwordHash: 'hash', createdAt: 1 });
    await store.apiKeys.add(KEY, 10);
    const outcomes = await Promise.all([store.pairings.add(PAIRING), store.apiKeys.remove('k')]);
    expect(outcomes[1]).toBe(true);
    expect(await store.pairings.list()).toEqual([]);
    await store.close();
  });
});
