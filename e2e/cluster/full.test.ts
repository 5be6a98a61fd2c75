/** PostgreSQL without space on its disk, and Valkey without memory. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chmodSync } from 'node:fs';
import { RedisClient } from 'bun';
import { until } from '../../packages/server/src/testing/until.ts';
import { EventReader } from '../event-reader.ts';
import { durableOf, postJson, type ServerProcess, submit } from '../server-process.ts';
import { mountDisk, noDisk, type SmallDisk } from '../small-disk.ts';
import { type Cluster, LONG_LEASE, missing, startCluster } from './nodes.ts';

describe.skipIf(missing !== null || noDisk)('two nodes', () => {
  let disk: SmallDisk;
  let cluster: Cluster;
  let nodes: [ServerProcess, ServerProcess];

  beforeAll(async () => {
    disk = mountDisk(120);
    // PostgreSQL runs as another user.
    chmodSync(disk.path, 0o777);
    const { TMPDIR } = process.env;
    process.env.TMPDIR = disk.path;
    try {
      cluster = await startCluster(LONG_LEASE);
    } finally {
      if (TMPDIR === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = TMPDIR;
    }
    nodes = [await cluster.start(), await cluster.start()];
  });
  afterAll(async () => {
    await cluster?.stop();
    disk?.[Symbol.dispose]();
  });

  const isReady = async (node: ServerProcess) => (await fetch(`${node.http}/ready`)).status === 200;

  test('refuse messages while the disk of PostgreSQL is full, and lose none that they acknowledged', async () => {
    const acknowledged: string[] = [];
    const faults = new Set<string>();
    let sent = 0;
    const send = async () => {
      const text = `${++sent} ${'x'.repeat(2_000)}`;
      const command = { type: 'input.submit', parts: [{ type: 'text', text }] };
      const node = nodes[sent % 2] ?? nodes[0];
      const { status, body } = await postJson(`${node.http}/v1/sessions/full/commands`, command);
      if (status === 200) acknowledged.push(text);
      else if (status !== 429) faults.add(`${status} ${(body.error as { code: string }).code}`);
    };
    await send();
    disk.fill();
    await until(async () => {
      await send();
      return faults.size > 0;
    });
    expect([...faults]).toEqual(['503 storage_unavailable']);
    disk.free();
    // A server that could not write its log has stopped.
    await cluster.postgres.kill();
    await cluster.postgres.restart();
    await until(async () => (await isReady(nodes[0])) && (await isReady(nodes[1])));
    await until(async () => {
      const before = acknowledged.length;
      await send();
      return acknowledged.length > before;
    });
    const events = await durableOf(nodes[1], 'full');
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    const stored = events.flatMap((event) =>
      event.type === 'input.accepted' && event.parts[0]?.type === 'text' ? [event.parts[0].text] : [],
    );
    expect(acknowledged.map((text) => stored.filter((other) => other === text).length)).toEqual(
      acknowledged.map(() => 1),
    );
  });

  test('deliver through the database while Valkey has no memory left', async () => {
    const [here, there] = nodes;
    using client = Object.assign(new RedisClient(cluster.redis.url), {
      [Symbol.dispose]() {
        client.close();
      },
    });
    await client.send('CONFIG', ['SET', 'maxmemory-policy', 'noeviction']);
    await client.send('CONFIG', ['SET', 'maxmemory', '1']);
    const reader = new EventReader('oom');
    expect(await submit(here, 'oom', 'Hello')).toBe(true);
    await reader.follow(there);
    await reader.until(({ events }) => events.some(({ type }) => type === 'turn.ended'));
    expect(reader.events).toEqual(await durableOf(here, 'oom'));
    expect([await isReady(here), await isReady(there)]).toEqual([true, true]);
    await client.send('CONFIG', ['SET', 'maxmemory', '0']);
    await until(async () => ((await client.send('ZCARD', [`${await prefix(client)}nodes`])) as number) === 2);
  });
});

const prefix = async (client: RedisClient): Promise<string> => {
  const channels = (await client.send('PUBSUB', ['CHANNELS', 'parlance:*:all'])) as string[];
  return (channels[0] ?? '').replace(/all$/, '');
};
