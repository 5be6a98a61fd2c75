import { afterEach, describe, expect, test } from 'bun:test';
import type { PostgresStore } from '../stores/postgres/open.ts';
import { noPostgres, openNode, testServer } from '../testing/stores/postgres.ts';
import { openProxy } from '../testing/stores/postgres-proxy.ts';
import { until } from '../testing/until.ts';
import { leasedWrite } from './leased-writes.ts';

/** Longer than any test: an earlier end has another reason. */
const LONG_MS = 3_600_000;
const fenced = {
  code: 'storage_unavailable',
  message: 'This node currently cannot renew its lease in the database.',
};

describe.skipIf(noPostgres)('a node on PostgreSQL', () => {
  const server = testServer();
  const opened: PostgresStore[] = [];
  const open = async (...given: Parameters<typeof openNode>) => {
    const store = await openNode(...given);
    opened.push(store);
    return store;
  };
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((store) => store.close()));
  });

  test('can store while its lease is valid and the database accepts writes', async () => {
    const store = await open(await server().newDatabase());
    await leasedWrite(store, LONG_MS);
  });

  test('cannot store without a lease, even if the database accepts writes', async () => {
    const url = await server().newDatabase();
    const proxy = await openProxy(url);
    const store = await open(url, { directUrl: proxy.url });
    const lost = Promise.withResolvers<unknown>();
    store.leases.onLost(lost.resolve);
    await proxy[Symbol.asyncDispose]();
    expect(await lost.promise).toBe('all');
    await store.writable();
    await expect(leasedWrite(store, LONG_MS)).rejects.toMatchObject(fenced);
  });

  test('cannot store if the database rejects writes, even with a valid lease', async () => {
    const url = await server().newDatabase();
    const proxy = await openProxy(url);
    const store = await open(proxy.url, { directUrl: url, node: { leaseMs: 600_000 } });
    await proxy[Symbol.asyncDispose]();
    await expect(leasedWrite(store, LONG_MS)).rejects.toMatchObject({ code: 'storage_unavailable' });
    expect(store.leases.healthy).toBe(true);
  });

  test('fails at the deadline if the database does not respond, and when its lease ends', async () => {
    const { engine, newDatabase } = server();
    const url = await newDatabase();
    const [patient, leased] = [
      await open(url, { node: { leaseMs: 600_000 } }),
      await open(url, { deadlineMs: LONG_MS }),
    ];
    engine.pause();
    try {
      const late = { code: 'storage_unavailable', message: 'The database is currently not responding.' };
      await Promise.all([
        expect(leasedWrite(patient, 1)).rejects.toMatchObject(late),
        expect(leasedWrite(leased, LONG_MS)).rejects.toMatchObject(fenced),
      ]);
    } finally {
      engine.resume();
    }
    await until(() => leased.leases.healthy);
    await Promise.all([leasedWrite(patient, LONG_MS), leasedWrite(leased, LONG_MS)]);
  });
});
