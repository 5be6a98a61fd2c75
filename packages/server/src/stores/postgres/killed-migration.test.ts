/** A node that is killed at any step of an upgrade leaves the old schema or the new one. */
import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { SQL } from 'bun';
import { NO_LOG, noPostgres, openNode, testServer } from '../../testing/stores/postgres.ts';
import { until } from '../../testing/until.ts';
import { MIGRATIONS, type Migration } from './migrations.ts';
import { openPostgresStore } from './open.ts';

/** The steps of a later release. */
const migrations: readonly Migration[] = [
  ...MIGRATIONS,
  {
    oldest: 1,
    sql: "ALTER TABLE sessions ADD COLUMN colour TEXT NOT NULL DEFAULT 'red'",
    afterwards: [
      'CREATE INDEX CONCURRENTLY IF NOT EXISTS sessions_by_colour ON sessions (colour)',
      'CREATE INDEX CONCURRENTLY IF NOT EXISTS sessions_by_owner_and_colour ON sessions (owner, colour)',
    ],
  },
  { oldest: 1, sql: 'CREATE TABLE colours (name TEXT PRIMARY KEY)' },
];

/** Upgrades, and waits in the given step until it is killed. */
const PROGRAM = `
  const { openPostgresStore } = await import(${JSON.stringify(join(import.meta.dir, 'open.ts'))});
  const [url, step, part] = process.argv.slice(-3);
  const wait = 'SELECT pg_sleep(600)';
  const migrations = ${JSON.stringify(migrations)}.map((migration, index) =>
    index !== Number(step) ? migration
    : part === 'sql' ? { ...migration, sql: migration.sql + ';' + wait }
    : { ...migration, afterwards: migration.afterwards.toSpliced(Number(part), 0, wait) });
  const quiet = () => undefined;
  await openPostgresStore(url, { log: { debug: quiet, info: quiet, warn: quiet, error: quiet }, migrations });
`;

const PLACES: (readonly [step: number, part: string])[] = migrations.flatMap(
  ({ afterwards = [] }: Migration, step) =>
    step < MIGRATIONS.length
      ? []
      : [[step, 'sql'] as const, ...afterwards.map((_, index) => [step, String(index)] as const)],
);

async function schemaOf(sql: SQL) {
  return {
    cluster: await sql`SELECT migrations, completed FROM cluster`,
    columns: await sql`SELECT table_name, column_name, data_type FROM information_schema.columns
      WHERE table_schema = 'public' ORDER BY 1, 2`,
    indexes: await sql`SELECT c.relname, i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
      WHERE c.relnamespace = 'public'::regnamespace ORDER BY 1`,
  };
}

describe.skipIf(noPostgres)('a node killed during an upgrade', () => {
  // Otherwise the server notices a dead client only after the statement.
  const server = testServer(['client_connection_check_interval=20ms']);

  test('leaves the old schema or the new one, and a node that waits completes it', async () => {
    const { engine } = server();
    const old = await engine.createDatabase();
    await (await openPostgresStore(old, { log: NO_LOG })).close();
    const current = await engine.createDatabase(old);
    await (await openNode(current, { migrations })).close();
    const of = async (url: string) => {
      await using sql = new SQL(url, { max: 1 });
      return await schemaOf(sql);
    };
    const [before, after] = [await of(old), await of(current)];
    for (const [step, part] of PLACES) {
      const url = await engine.createDatabase(old);
      const child = Bun.spawn([process.execPath, '-e', PROGRAM, url, String(step), part]);
      await using sql = new SQL(url, { max: 1 });
      const sleeping = async () =>
        (
          await sql`SELECT 1 FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event = 'PgSleep'`
        ).length > 0;
      await until(sleeping);
      const waiting = openNode(url, { migrations });
      const seen = await schemaOf(sql);
      child.kill('SIGKILL');
      await child.exited;
      // The transaction is complete or invisible; its indexes follow one by one.
      const { columns } = part === 'sql' ? before : after;
      expect([step, part, seen.columns]).toEqual([step, part, columns]);
      expect(seen.cluster[0].completed).toBe(MIGRATIONS.length);
      const node = await waiting;
      expect(await schemaOf(sql)).toEqual(after);
      await node.close();
    }
  });
});
