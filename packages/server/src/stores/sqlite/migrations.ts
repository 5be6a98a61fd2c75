/**
 * The database schema as a list of migrations. `user_version` counts the applied ones. Never change a
 * released migration; add another one.
 */
import type { Database } from 'bun:sqlite';
import { eventVersion, unknownVersion } from '@parlance/protocol';
import { insertLabels, labelTable, TITLE_CHARACTERS } from '../shared/filter-index.ts';
import { decisionTable, sessionIndexes, sharedTables, signInTables } from '../shared/schema.ts';
import type { EventOptions } from '../shared/stored-event.ts';
import { usageEstimated, usageTables } from '../shared/usage.ts';
import { webhookTable } from '../shared/webhooks.ts';

/** "Parl" in ASCII: marks a SQLite file as ours. */
const APPLICATION_ID = 0x5061726c;

/** Conditions on flags, in indexes and in the queries that use them. */
export const FLAGS = {
  is: (flag: string) => `${flag} <> 0`,
  not: (flag: string) => `${flag} = 0`,
};

const TYPES = {
  key: 'TEXT',
  integer: 'INTEGER',
  flag: 'INTEGER',
  session: 'INTEGER NOT NULL REFERENCES sessions (row)',
  options: ' STRICT, WITHOUT ROWID',
  ...FLAGS,
};

/** The parts of one to three characters of a title, in hexadecimal. */
const gramsOf = (title: string): string =>
  `SELECT group_concat(DISTINCT hex(substr(lower(${title}), at, size.value)))
   FROM json_each('[1,2,3]') AS size CROSS JOIN title_positions WHERE at <= length(${title}) + 1 - size.value`;

export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE sessions (
    row INTEGER PRIMARY KEY,
    owner TEXT NOT NULL,
    id TEXT NOT NULL,
    dialect TEXT NOT NULL,
    domain TEXT NOT NULL,
    agent TEXT NOT NULL,
    title TEXT NOT NULL,
    renamed INTEGER NOT NULL,
    first_input TEXT NOT NULL,
    status TEXT NOT NULL,
    approval TEXT,
    archived INTEGER NOT NULL,
    ephemeral INTEGER NOT NULL,
    pinned INTEGER NOT NULL,
    tags TEXT NOT NULL,
    labels TEXT NOT NULL,
    message_count INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    head INTEGER NOT NULL,
    -- the last event whose message is in the search index
    indexed INTEGER NOT NULL DEFAULT 0,
    UNIQUE (owner, id)
  ) STRICT;
  ${sessionIndexes(TYPES)}

  -- apart from the session, whose row is written with every append: a checkpoint is large and seldom changes
  CREATE TABLE checkpoints (
    session INTEGER PRIMARY KEY REFERENCES sessions (row),
    version INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    state TEXT NOT NULL
  ) STRICT;

  CREATE TABLE events (
    session INTEGER NOT NULL REFERENCES sessions (row),
    seq INTEGER NOT NULL,
    version INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (session, seq)
  ) STRICT, WITHOUT ROWID;

  -- the newest version of an event that may be in the database
  CREATE TABLE event_version (
    version INTEGER NOT NULL
  ) STRICT;
  INSERT INTO event_version (version) VALUES (1);

  -- the id is the time of the message in 1/1024 ms
  CREATE TABLE messages (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (row),
    seq INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX messages_by_session ON messages (session, seq);
  -- words are normalised before they are stored: \`ascii\` leaves everything else as it is
  CREATE VIRTUAL TABLE message_words USING fts5 (
    owner, words, content = '', contentless_delete = 1, tokenize = "ascii tokenchars '_'"
  );

  ${sharedTables(TYPES)}
  `,
  'ALTER TABLE sessions ADD COLUMN last_model TEXT',
  decisionTable(TYPES),
  `ALTER TABLE sessions ADD COLUMN parent TEXT;
  CREATE INDEX sessions_by_parent ON sessions (owner, parent, updated_at DESC, row DESC) WHERE parent IS NOT NULL;`,
  usageTables(TYPES),
  usageEstimated(TYPES),
  webhookTable(TYPES),
  `
  -- the places of a title
  CREATE TABLE title_positions (at INTEGER PRIMARY KEY);
  WITH RECURSIVE places (at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM places WHERE at < ${TITLE_CHARACTERS})
  INSERT INTO title_positions SELECT at FROM places;
  CREATE VIRTUAL TABLE title_grams USING fts5 (
    grams, content = '', contentless_delete = 1, detail = none, tokenize = "ascii"
  );
  ${labelTable(TYPES)}
  INSERT INTO title_grams (rowid, grams) SELECT row, (${gramsOf('sessions.title')}) FROM sessions WHERE title <> '';
  ${insertLabels('sessions.row', 'json_each(sessions.labels)', 'sessions, ')};

  CREATE TRIGGER titled AFTER INSERT ON sessions WHEN new.title <> '' BEGIN
    INSERT INTO title_grams (rowid, grams) VALUES (new.row, (${gramsOf('new.title')}));
  END;
  CREATE TRIGGER retitled AFTER UPDATE OF title ON sessions WHEN old.title <> new.title BEGIN
    DELETE FROM title_grams WHERE rowid = old.row;
    INSERT INTO title_grams (rowid, grams) SELECT new.row, (${gramsOf('new.title')}) WHERE new.title <> '';
  END;
  CREATE TRIGGER labelled AFTER INSERT ON sessions WHEN new.labels <> '{}' BEGIN
    ${insertLabels('new.row', 'json_each(new.labels)')};
  END;
  CREATE TRIGGER relabelled AFTER UPDATE OF labels ON sessions WHEN old.labels <> new.labels BEGIN
    DELETE FROM session_labels WHERE session = old.row;
    ${insertLabels('new.row', 'json_each(new.labels)')};
  END;
  CREATE TRIGGER erased BEFORE DELETE ON sessions BEGIN
    DELETE FROM title_grams WHERE rowid = old.row;
    DELETE FROM session_labels WHERE session = old.row;
  END;`,
  signInTables(TYPES),
];

export type SchemaOptions = EventOptions & {
  /** for tests: the migrations of this release */
  readonly migrations?: readonly string[];
};

/** Throws, without writing anything, if the database belongs to another program or a newer version. */
export function migrate(database: Database, path: string, options: SchemaOptions = {}): void {
  if (stateOf(database, path, options) === 'current') return;
  const { migrations = MIGRATIONS, upcasts } = options;
  database.run('BEGIN IMMEDIATE');
  try {
    // Check again: another process may have upgraded before we got the lock.
    for (const step of migrations.slice(versionOf(database, path, options))) database.run(step);
    database.run('UPDATE event_version SET version = ?', [eventVersion(upcasts)]);
    database.run(`PRAGMA application_id = ${APPLICATION_ID}`);
    database.run(`PRAGMA user_version = ${migrations.length}`);
    database.run('COMMIT');
  } catch (error) {
    if (database.inTransaction) database.run('ROLLBACK');
    throw error;
  }
}

/** `older`: the database exists and needs an upgrade. Throws like `versionOf`. */
export function stateOf(
  database: Database,
  path: string,
  options: SchemaOptions = {},
): 'new' | 'older' | 'current' {
  const { migrations = MIGRATIONS, upcasts } = options;
  // in one transaction, since another process may be creating the database
  return database.transaction(() => {
    const version = versionOf(database, path, options);
    if (version === 0) return 'new';
    const isCurrent = version === migrations.length && eventsIn(database) === eventVersion(upcasts);
    return isCurrent ? 'current' : 'older';
  })();
}

/** Number of applied migrations. Throws if the database belongs to another program or a newer version. */
export function versionOf(database: Database, path: string, options: SchemaOptions = {}): number {
  const { migrations = MIGRATIONS, upcasts } = options;
  const application = numberFrom(database, 'SELECT application_id AS value FROM pragma_application_id');
  if (application !== APPLICATION_ID) {
    const isEmpty = numberFrom(database, 'SELECT count(*) AS value FROM sqlite_schema') === 0;
    if (application === 0 && isEmpty) return 0;
    throw new Error(`${path} is not a Parlance database`);
  }
  const version = numberFrom(database, 'SELECT user_version AS value FROM pragma_user_version');
  if (version > migrations.length) {
    throw new Error(
      `${path} is from a newer version of Parlance (schema ${version}, this one knows ${migrations.length})`,
    );
  }
  const events = eventsIn(database);
  if (events > eventVersion(upcasts))
    throw new Error(`${path} contains an event that ${unknownVersion(events, eventVersion(upcasts))}`);
  return version;
}

const eventsIn = (database: Database): number =>
  numberFrom(database, 'SELECT version AS value FROM event_version');

function numberFrom(database: Database, sql: string): number {
  using statement = database.prepare<{ value: number }, []>(sql);
  return statement.get()?.value ?? 0;
}
