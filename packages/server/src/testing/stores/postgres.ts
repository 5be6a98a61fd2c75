/** A PostgreSQL server for the tests of a file, and stores on it. */
import { afterAll, beforeAll } from 'bun:test';
import { eventVersion } from '@parlance/protocol';
import { SQL } from 'bun';
import { openPostgresStore, type PostgresOptions, type PostgresStore } from '../../stores/postgres/open.ts';
import { type PostgresEngine, postgresPrograms, startPostgres } from '../engines/postgres.ts';
import { waitLimit } from '../until.ts';
import type { Implementation } from './contract/store-location.ts';

/** In CI the server is required: tests fail instead of being skipped. */
export const noPostgres = postgresPrograms === null && !process.env.CI;

const nothing = () => undefined;
export const NO_LOG = { debug: nothing, info: nothing, warn: nothing, error: nothing };

export type TestServer = {
  readonly engine: PostgresEngine;
  /** URL of an empty database with the current schema */
  newDatabase(): Promise<string>;
  /** Empties the database for reuse. */
  giveBack(url: string): Promise<void>;
};

/** Starts before the tests of the file and stops after them. */
export function testServer(settings: readonly string[] = []): () => TestServer {
  let engine: PostgresEngine | null = null;
  const empty: string[] = [];
  if (!noPostgres)
    beforeAll(async () => {
      engine = await startPostgres(settings);
    }, 60_000);
  afterAll(async () => engine?.stop());
  return () => {
    const running = engine;
    if (!running) throw new Error('PostgreSQL is not installed');
    return {
      engine: running,
      newDatabase: async () => empty.pop() ?? migrated(running),
      async giveBack(url) {
        await emptied(url);
        empty.push(url);
      },
    };
  };
}

async function migrated(engine: PostgresEngine): Promise<string> {
  const url = await engine.createDatabase();
  await (await openPostgresStore(url, { log: NO_LOG })).close();
  return url;
}

/** Faster than creating another database, and for few rows than `TRUNCATE`, which replaces every file. */
async function emptied(url: string): Promise<void> {
  await using sql = new SQL(url, { max: 1 });
  const tables: { name: string }[] = await sql.unsafe(
    `SELECT quote_ident(tablename) AS name FROM pg_tables
     WHERE schemaname = 'public' AND tablename <> 'cluster' AND tablename NOT LIKE 'events\\_%'`,
  );
  const emptying = tables.map(({ name }) => `DELETE FROM ${name}`);
  // As a replica: without foreign keys and triggers, so in any order.
  await sql.unsafe(['SET session_replication_role = replica', ...emptying].join(';'));
  await sql`UPDATE cluster SET event_version = ${eventVersion()}`;
}

/** Opens a node like a server does. */
export const openNode = (url: string, options: Partial<PostgresOptions> = {}): Promise<PostgresStore> =>
  openPostgresStore(url, { log: NO_LOG, node: {}, ...options });

export const postgresImplementation = (server: () => TestServer): Implementation => ({
  skip: noPostgres ? 'PostgreSQL is not installed' : undefined,
  maxWaiting: 1_000,
  async place() {
    const { newDatabase, giveBack } = server();
    const url = await newDatabase();
    // The contract is not about deadlines: a slow machine may take its time.
    return {
      open: (options) => openNode(url, { deadlineMs: waitLimit(), ...options }),
      dispose: () => giveBack(url),
    };
  },
});
