/**
 * The database schema as a list of migrations. Never change a released migration; add another one.
 *
 * During an upgrade, nodes of two releases run at the same time. So one release expands the schema (nullable
 * columns, tables, indexes), the next one uses it, and the one after that contracts it. `oldest` states which
 * release may still run.
 */

import { randomBytes, randomUUID } from 'node:crypto';
import { eventVersion, unknownVersion } from '@parlance/protocol';
import { insertLabels, labelTable, TITLE_CHARACTERS } from '../shared/filter-index.ts';
import { decisionTable, sessionIndexes, sharedTables, signInTables } from '../shared/schema.ts';
import type { EventOptions } from '../shared/stored-event.ts';
import { usageEstimated, usageTables } from '../shared/usage.ts';
import { webhookTable } from '../shared/webhooks.ts';
import type { Row, Statements } from './database.ts';
import { shownUrl } from './errors.ts';

export type Migration = {
  /** runs in one transaction with the others */
  readonly sql: string;
  /** number of migrations that a node must know to use the database afterwards */
  readonly oldest: number;
  /**
   * Statements that cannot run in a transaction, such as CREATE INDEX CONCURRENTLY IF NOT EXISTS. They run
   * afterwards, and again if interrupted.
   */
  readonly afterwards?: readonly string[];
};

/** Conditions on flags, in indexes and in the queries that use them. */
export const FLAGS = {
  is: (flag: string) => flag,
  not: (flag: string) => `NOT ${flag}`,
};

const TYPES = {
  key: 'TEXT COLLATE "C"',
  integer: 'BIGINT',
  flag: 'BOOLEAN',
  session: 'BIGINT NOT NULL',
  options: '',
  ...FLAGS,
};

export const MIGRATIONS: readonly Migration[] = [
  {
    oldest: 1,
    sql: `
    CREATE TABLE cluster (
      only_row BOOLEAN PRIMARY KEY DEFAULT TRUE CHECK (only_row),
      id TEXT NOT NULL,
      -- how many migrations were applied, and how many of them are complete
      migrations INTEGER NOT NULL,
      completed INTEGER NOT NULL,
      -- how many migrations a node must know
      schema INTEGER NOT NULL,
      -- the newest version of an event that may be in the database
      event_version INTEGER NOT NULL,
      -- grows with every change of users, API keys, pairings, settings and revocations
      changes BIGINT NOT NULL DEFAULT 0,
      -- signs tokens, and messages between nodes
      secret TEXT NOT NULL
    ) WITH (fillfactor = 10);

    CREATE TABLE nodes (
      id TEXT COLLATE "C" PRIMARY KEY,
      release TEXT NOT NULL,
      -- the newest version of an event that the node reads
      event_version INTEGER NOT NULL,
      home TEXT COLLATE "C",
      started_at TIMESTAMPTZ NOT NULL DEFAULT now(),
      -- the leases of the node are good until then
      until TIMESTAMPTZ NOT NULL,
      -- how long a heartbeat of the node is good
      lease_ms INTEGER NOT NULL,
      heartbeats BIGINT NOT NULL DEFAULT 0,
      bus_down BOOLEAN NOT NULL DEFAULT FALSE
    ) WITH (fillfactor = 10);

    CREATE SEQUENCE epochs;

    CREATE TABLE sessions (
      row BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      bucket SMALLINT NOT NULL,
      owner TEXT COLLATE "C" NOT NULL,
      id TEXT COLLATE "C" NOT NULL,
      dialect TEXT NOT NULL,
      domain TEXT COLLATE "C" NOT NULL,
      agent TEXT NOT NULL,
      title TEXT COLLATE "C" NOT NULL,
      renamed BOOLEAN NOT NULL,
      first_input TEXT NOT NULL,
      status TEXT COLLATE "C" NOT NULL,
      approval TEXT COLLATE "C",
      archived BOOLEAN NOT NULL,
      ephemeral BOOLEAN NOT NULL,
      pinned BOOLEAN NOT NULL,
      tags JSONB NOT NULL,
      labels JSONB NOT NULL,
      message_count BIGINT NOT NULL,
      created_at BIGINT NOT NULL,
      updated_at BIGINT NOT NULL,
      head BIGINT NOT NULL,
      -- the last event whose message is in the search index
      indexed BIGINT NOT NULL DEFAULT 0,
      -- the node that drives the session, and the fencing token with which it does
      driver TEXT COLLATE "C",
      epoch BIGINT NOT NULL DEFAULT 0,
      -- only nodes of this home drive the session
      home TEXT COLLATE "C",
      UNIQUE (bucket, owner, id)
    ) WITH (fillfactor = 80);
    CREATE INDEX sessions_running ON sessions (driver) WHERE status = 'running';
    ${sessionIndexes(TYPES)}

    -- apart from the session, whose row is written with every append: a checkpoint is large and seldom changes
    CREATE TABLE checkpoints (
      session BIGINT PRIMARY KEY,
      version INTEGER NOT NULL,
      seq BIGINT NOT NULL,
      state TEXT NOT NULL
    );

    -- text: JSONB refuses \\u0000, and nothing looks into it
    CREATE TABLE events (
      bucket SMALLINT NOT NULL,
      session BIGINT NOT NULL,
      seq BIGINT NOT NULL,
      version INTEGER NOT NULL,
      body TEXT NOT NULL,
      PRIMARY KEY (bucket, session, seq)
    ) PARTITION BY HASH (bucket);
    ${partitioned('events', 16)}

    -- words of the message, and the owner as one word that no message has
    CREATE TABLE messages (
      session BIGINT NOT NULL,
      seq BIGINT NOT NULL,
      at BIGINT NOT NULL,
      words TSVECTOR NOT NULL,
      PRIMARY KEY (session, seq)
    );
    CREATE INDEX messages_by_words ON messages USING gin (words);

    ${sharedTables(TYPES)}

    CREATE TABLE login_attempts (
      key TEXT COLLATE "C" PRIMARY KEY,
      points INTEGER NOT NULL,
      until TIMESTAMPTZ NOT NULL
    );
    CREATE INDEX login_attempts_by_end ON login_attempts (until);
    `,
  },
  { oldest: 1, sql: 'ALTER TABLE sessions ADD COLUMN last_model TEXT' },
  { oldest: 1, sql: decisionTable(TYPES) },
  {
    oldest: 1,
    sql: `
    ALTER TABLE sessions ADD COLUMN parent TEXT COLLATE "C";
    CREATE INDEX sessions_by_parent ON sessions (owner, parent, updated_at DESC, row DESC) WHERE parent IS NOT NULL;
    `,
  },
  { oldest: 1, sql: usageTables(TYPES) },
  { oldest: 1, sql: usageEstimated(TYPES) },
  { oldest: 1, sql: webhookTable(TYPES) },
  {
    oldest: 1,
    // Triggers, so that nodes of the release before index what they write.
    sql: `
    CREATE TABLE title_grams (session BIGINT PRIMARY KEY, grams TEXT[] NOT NULL);
    ${labelTable(TYPES)}
    CREATE FUNCTION title_grams_of(title TEXT) RETURNS TEXT[] LANGUAGE sql IMMUTABLE AS $$
      SELECT array_agg(DISTINCT upper(encode(convert_to(substr(lower(title), at, size), 'UTF8'), 'hex')))
      FROM generate_series(1, 3) AS size, generate_series(1, least(length(title) + 1 - size, ${TITLE_CHARACTERS})) AS at
    $$;
    INSERT INTO title_grams (session, grams) SELECT row, title_grams_of(title) FROM sessions WHERE title <> '';
    ${insertLabels('sessions.row', 'jsonb_each_text(sessions.labels)', 'sessions, ')};
    -- written seldom: a list of pending entries would only slow down searches
    CREATE INDEX title_grams_by_gram ON title_grams USING gin (grams) WITH (fastupdate = off);

    -- With settings of its own: connections plan without bitmaps (PLANNER), and this index has no other scan.
    CREATE FUNCTION titled(grams TEXT[], most INTEGER) RETURNS SETOF BIGINT LANGUAGE sql STABLE ROWS 50
      SET enable_bitmapscan = on SET enable_indexscan = off SET enable_seqscan = off AS $$
      SELECT session FROM title_grams WHERE title_grams.grams @> $1 LIMIT most
    $$;

    CREATE FUNCTION index_title() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      DELETE FROM title_grams WHERE session = new.row;
      IF new.title <> '' THEN
        INSERT INTO title_grams (session, grams) VALUES (new.row, title_grams_of(new.title));
      END IF;
      RETURN NULL;
    END $$;
    CREATE FUNCTION index_labels() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      DELETE FROM session_labels WHERE session = new.row;
      ${insertLabels('new.row', 'jsonb_each_text(new.labels)')};
      RETURN NULL;
    END $$;
    CREATE FUNCTION forget_filters() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      DELETE FROM title_grams WHERE session = old.row;
      DELETE FROM session_labels WHERE session = old.row;
      RETURN NULL;
    END $$;
    CREATE TRIGGER titled AFTER INSERT ON sessions FOR EACH ROW WHEN (new.title <> '') EXECUTE FUNCTION index_title();
    CREATE TRIGGER retitled AFTER UPDATE OF title ON sessions FOR EACH ROW WHEN (old.title <> new.title)
      EXECUTE FUNCTION index_title();
    CREATE TRIGGER labelled AFTER INSERT ON sessions FOR EACH ROW WHEN (new.labels <> '{}')
      EXECUTE FUNCTION index_labels();
    CREATE TRIGGER relabelled AFTER UPDATE OF labels ON sessions FOR EACH ROW WHEN (old.labels <> new.labels)
      EXECUTE FUNCTION index_labels();
    CREATE TRIGGER erased AFTER DELETE ON sessions FOR EACH ROW EXECUTE FUNCTION forget_filters();
    `,
  },
  { oldest: 1, sql: 'ALTER TABLE sessions ADD COLUMN last_event TEXT' },
  { oldest: 1, sql: signInTables(TYPES) },
];

// Migrates the database to the current schema. Nodes that start at the same time wait for each other.

/** Shared by all nodes of a database. */
export type Cluster = {
  readonly id: string;
  readonly secret: string;
  /** the newest event version that may be written */
  readonly eventVersion: number;
};

type MigrateOptions = EventOptions & {
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

/** SQL that creates the hash partitions of a table. */
function partitioned(table: string, count: number): string {
  const create = (index: number) =>
    `CREATE TABLE ${table}_${index} PARTITION OF ${table} FOR VALUES WITH (MODULUS ${count}, REMAINDER ${index});`;
  return Array.from({ length: count }, (_, index) => create(index)).join('\n');
}
