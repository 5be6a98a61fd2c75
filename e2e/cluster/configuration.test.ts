/** Settings that cannot work: the process exits with one clear line, without passwords, and never hangs. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SQL } from 'bun';
import { spawnParlance } from '../../packages/cli/src/testing/run-parlance.ts';
import { startRedis } from '../../packages/server/src/testing/engines/redis.ts';
import { outputOf } from '../output.ts';
import { type Cluster, missing, startCluster } from './nodes.ts';

const SECRET = 'not-the-password';

describe.skipIf(missing !== null)(`a node${missing ? ` (not here: ${missing})` : ''}`, () => {
  let cluster: Cluster;
  beforeAll(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parlance-access-'));
    chmodSync(folder, 0o755);
    const access = join(folder, 'pg_hba.conf');
    writeFileSync(
      access,
      'host all guarded all scram-sha-256\nhost all all all trust\nlocal all all trust\n',
    );
    cluster = await startCluster({}, [`hba_file=${access}`]);
  });
  afterAll(() => cluster?.stop());

  /** The output of a process with these settings. */
  async function refused(settings: Record<string, string | undefined>): Promise<string> {
    const cwd = mkdtempSync(join(cluster.folder, 'refused-'));
    const env = Object.fromEntries(
      Object.entries({ PORT: '0', PARLANCE_DATA: cwd, ...cluster.settings, ...settings }).filter(
        (entry): entry is [string, string] => entry[1] !== undefined,
      ),
    );
    const child = spawnParlance(['serve'], { cwd, env });
    const errors = outputOf(child.stderr);
    expect(await child.exited).not.toBe(0);
    expect(await new Response(child.stdout).text()).toBe('');
    const lines = (await errors.all()).trim().split('\n');
    expect(lines).toHaveLength(1);
    expect(lines[0]).not.toContain(SECRET);
    return lines[0] ?? '';
  }

  const database = (change: (url: URL) => void): string => {
    const url = new URL(cluster.settings.DATABASE_URL ?? '');
    change(url);
    return url.href;
  };

  test('with a wrong database password', async () => {
    await using sql = new SQL(cluster.settings.DATABASE_URL ?? '', { max: 1 });
    await sql.unsafe(`CREATE ROLE guarded LOGIN PASSWORD 'the-password'`);
    const url = database((one) => {
      one.username = 'guarded';
      one.password = SECRET;
    });
    expect(await refused({ DATABASE_URL: url })).toMatch(
      /cannot be used: it refuses the user, the password or an access right/,
    );
  });

  test('with an unreachable database', async () => {
    const url = `postgres://parlance:${SECRET}@127.0.0.1:1/parlance`;
    expect(await refused({ DATABASE_URL: url })).toMatch(
      /127\.0\.0\.1:1\/parlance cannot be used: it does not/,
    );
  });

  test('with a host that accepts connections and does not respond', async () => {
    const server = createServer(() => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const url = `postgres://parlance@127.0.0.1:${port}/parlance`;
    expect(await refused({ DATABASE_URL: url })).toMatch(/cannot be used: it does not answer/);
    server.close();
  });

  test('with a bus but no database', async () => {
    expect(await refused({ DATABASE_URL: undefined })).toContain(
      'REDIS_URL is the bus between nodes: it needs',
    );
  });

  test('with a wrong bus password', async () => {
    const redis = await startRedis({ password: 'the-password' });
    const url = redis.url.replace('the-password', SECRET);
    expect(await refused({ REDIS_URL: url })).toMatch(/^.*REDIS_URL: WRONGPASS/);
    await redis.stop();
  });

  test('on the database of a newer version', async () => {
    const url = await cluster.postgres.createDatabase(cluster.settings.DATABASE_URL);
    await using sql = new SQL(url, { max: 1 });
    const node = await cluster.start({ DATABASE_URL: url, PARLANCE_FOLDER: 'own' });
    await node.terminate();
    await sql.unsafe('UPDATE cluster SET schema = migrations + 1');
    expect(await refused({ DATABASE_URL: url })).toMatch(
      /is from a newer version of Parlance \(schema \d+, this one/,
    );
  });

  test('in another folder than the other nodes', async () => {
    const node = await cluster.start();
    const elsewhere = mkdtempSync(join(cluster.folder, 'elsewhere-'));
    expect(await refused({ WORKING_DIRECTORY: elsewhere })).toMatch(
      /the working directory .* is not the one that the other nodes use: share one folder/,
    );
    writeFileSync(join(elsewhere, '.parlance-cluster'), 'another\n');
    expect(await refused({ WORKING_DIRECTORY: elsewhere })).toMatch(/belongs to another cluster/);
    await node.terminate();
  });
});
