/** Migrates the database to the current schema. Nodes that start at the same time wait for each other. */
import { randomBytes, randomUUID } from 'node:crypto';
import { eventVersion, unknownVersion } from '@parlance/protocol';
import type { EventOptions } from '../shared/stored-event.ts';
import type { Row, Statements } from './database.ts';
import { shownUrl } from './errors.ts';
import { MIGRATIONS, type Migration } from './migrations.ts';

/** Shared by all nodes of a database. */
export type Cluster = {
  readonly id: string;
  readonly secret: string;
  /** the newest event version that may be written */
  readonly eventVersion: number;
};

export type MigrateOptions = EventOptions & {
  readonly url: string;
  /** for tests: the migrations of this release */
  readonly migrations?: readonly Migration[];
};

type State = { readonly migrations: number; readonly completed: number; readonly eventVersion: number };

/**
 * Null if the database is empty or outdated. Throws an error with a one-line message if it belongs to another
 * program or a newer version.
 */
export async function currentCluster(
  statements: Statements,
  options: MigrateOptions,
): Promise<Cluster | null> {
  const { migrations = MIGRATIONS, upcasts } = options;
  const state = await stateOf(statements, options);
  return state && state.completed >= migrations.length && state.eventVersion === eventVersion(upcasts)
    ? clusterIn(statements)
    : null;
}

/**
 * Requires the start lock. Throws like `currentCluster`, without writing anything. `statements` must have no
 * short timeouts, since a migration may take long.
 */
export async function migrate(statements: Statements, options: MigrateOptions): Promise<Cluster> {
  const { migrations = MIGRATIONS, upcasts } = options;
  // Read again: another node may have migrated before we got the lock.
  const state = await stateOf(statements, options);
  const events = eventVersion(upcasts);
  const applied = state?.migrations ?? 0;
  if (!state || applied < migrations.length || state.eventVersion < events)
    await apply(statements, migrations, { applied, events });
  for (const { afterwards = [] } of migrations.slice(state?.completed ?? 0))
    for (const statement of afterwards) await repeatable(statements, statement);
  await statements.query('UPDATE cluster SET completed = greatest(completed, $1)', [migrations.length]);
  return clusterIn(statements);
}

async function clusterIn(statements: Statements): Promise<Cluster> {
  const [found] = await statements.query('SELECT id, secret, event_version FROM cluster');
  return {
    id: String(found?.id),
    secret: String(found?.secret),
    eventVersion: Number(found?.event_version),
  };
}

/**
 * Requires the start lock, so that no older node is about to join. Does nothing while an older node is alive.
 */
export async function allowEvents(statements: Statements, version: number): Promise<void> {
  await statements.query(
    `UPDATE cluster SET event_version = $1 WHERE event_version < $1
       AND NOT EXISTS (SELECT 1 FROM nodes WHERE until > now() AND nodes.event_version < $1)`,
    [version],
  );
}

async function apply(
  statements: Statements,
  migrations: readonly Migration[],
  { applied, events }: { readonly applied: number; readonly events: number },
): Promise<void> {
  await statements.query('BEGIN');
  try {
    for (const { sql } of migrations.slice(applied)) await statements.query(sql);
    if (applied === 0)
      await statements.query(
        'INSERT INTO cluster (id, migrations, completed, schema, event_version, secret) VALUES ($1, 0, 0, 0, 0, $2)',
        [randomUUID(), randomBytes(48).toString('base64url')],
      );
    await statements.query(
      'UPDATE cluster SET migrations = greatest(migrations, $1), schema = greatest(schema, $2)',
      [migrations.length, migrations.at(-1)?.oldest ?? 0],
    );
    await allowEvents(statements, events);
    await statements.query('COMMIT');
  } catch (error) {
    await statements.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

/** An interrupted index creation leaves an invalid index, which must be created again. */
async function repeatable(statements: Statements, statement: string): Promise<void> {
  const invalid = await statements.query(
    `SELECT c.relname AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
     WHERE NOT i.indisvalid AND c.relnamespace = current_schema()::regnamespace`,
  );
  for (const { name } of invalid)
    if (statement.includes(String(name)))
      await statements.query(`DROP INDEX CONCURRENTLY IF EXISTS "${String(name).replaceAll('"', '""')}"`);
  await statements.query(statement);
}

/** Null if the database is empty. Throws if it belongs to another program or a newer version. */
async function stateOf(statements: Statements, options: MigrateOptions): Promise<State | null> {
  const { migrations: known = MIGRATIONS, upcasts, url } = options;
  // Read tables and columns in one snapshot: to_regclass would already see those of a concurrent migration.
  const table = (name: string) =>
    `EXISTS (SELECT 1 FROM pg_class WHERE relname = '${name}' AND relnamespace = current_schema()::regnamespace)`;
  const [found] = await statements.query(
    `SELECT ${table('cluster')} AS ours, ${table('sessions')} AS foreign_sessions,
       EXISTS (SELECT 1 FROM information_schema.columns
         WHERE table_schema = current_schema() AND table_name = 'cluster' AND column_name = 'event_version') AS known`,
  );
  if (!found?.ours && !found?.foreign_sessions) return null;
  if (!found.known) throw new Error(`${shownUrl(url)} contains tables of another program`);
  const [row = {}] = await statements.query(
    'SELECT migrations, completed, schema, event_version FROM cluster',
  );
  const state = { ...numbersIn(row), schema: Number(row.schema) };
  if (state.schema > known.length)
    throw new Error(
      `${shownUrl(url)} is from a newer version of Parlance (schema ${state.schema}, this one knows ${known.length})`,
    );
  if (state.eventVersion > eventVersion(upcasts))
    throw new Error(
      `${shownUrl(url)} contains an event that ${unknownVersion(state.eventVersion, eventVersion(upcasts))}`,
    );
  return state;
}

const numbersIn = (row: Row): State => ({
  migrations: Number(row.migrations),
  completed: Number(row.completed),
  eventVersion: Number(row.event_version),
});
