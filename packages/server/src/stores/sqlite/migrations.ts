/**
 * The database schema as a list of migrations. `user_version` counts the applied ones. Never change a
 * released migration; add another one.
 */
import type { Database } from 'bun:sqlite';
import { eventVersion, unknownVersion } from '@parlance/protocol';
import type { EventOptions } from '../shared/stored-event.ts';

/** "Parl" in ASCII: marks a SQLite file as ours. */
export const APPLICATION_ID = 0x5061726c;

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
    status TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    head INTEGER NOT NULL,
    UNIQUE (owner, id)
  ) STRICT;
  CREATE INDEX sessions_by_owner ON sessions (owner, updated_at DESC, row DESC);
  CREATE INDEX sessions_by_change ON sessions (updated_at DESC, row DESC);
  CREATE INDEX sessions_by_status ON sessions (status, updated_at DESC, row DESC);
  CREATE INDEX sessions_by_id ON sessions (id);

  -- apart from the session, whose row is written with every append: a checkpoint is large and seldom changes
  CREATE TABLE checkpoints (
    session INTEGER PRIMARY KEY REFERENCES sessions (row),
    version INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    state TEXT NOT NULL
  ) STRICT;

  CREATE TABLE facts (
    session INTEGER NOT NULL REFERENCES sessions (row),
    seq INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (session, seq)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE users (
    name TEXT PRIMARY KEY,
    role TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  ALTER TABLE sessions ADD COLUMN archived INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE sessions ADD COLUMN labels TEXT NOT NULL DEFAULT '{}';
  ALTER TABLE sessions ADD COLUMN said INTEGER NOT NULL DEFAULT 0;

  UPDATE sessions SET
    said = (
      SELECT count(*) FROM facts WHERE session = sessions.row AND (
        body ->> '$.type' IN ('input.accepted', 'call.deferred')
        OR (body ->> '$.type' = 'text.ended' AND body ->> '$.text' <> '')
        OR (body ->> '$.type' = 'tool.ended' AND body ->> '$.final')
      )
    ),
    archived = coalesce((
      SELECT body ->> '$.type' = 'session.archived' FROM facts
      WHERE session = sessions.row AND body ->> '$.type' IN ('session.archived', 'input.accepted')
      ORDER BY seq DESC LIMIT 1
    ), 0),
    -- beside max(), SQLite takes the other columns from the row that has the maximum: the latest label of each name
    labels = (
      SELECT json_group_object(name, value) FROM (
        SELECT label.key AS name, label.value AS value, max(facts.seq)
        FROM facts, json_each(facts.body, '$.labels') AS label
        WHERE facts.session = sessions.row AND facts.body ->> '$.type' = 'session.labelled'
        GROUP BY label.key
      )
    );

  CREATE TABLE preferences (
    owner TEXT PRIMARY KEY,
    value TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  ALTER TABLE users ADD COLUMN generation TEXT NOT NULL DEFAULT '';
  UPDATE users SET generation = lower(hex(randomblob(16)));

  CREATE TABLE revocations (
    id TEXT PRIMARY KEY,
    until INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX revocations_by_end ON revocations (until);
  `,
  `
  ALTER TABLE sessions ADD COLUMN approval TEXT;
  CREATE INDEX sessions_by_owner_and_status ON sessions (owner, status, updated_at DESC, row DESC);
  CREATE INDEX sessions_awaiting_approval ON sessions (updated_at DESC, row DESC) WHERE approval IS NOT NULL;
  CREATE INDEX sessions_awaiting_approval_by_owner ON sessions (owner, updated_at DESC, row DESC)
    WHERE approval IS NOT NULL;

  CREATE TABLE lookups (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    session INTEGER NOT NULL REFERENCES sessions (row),
    PRIMARY KEY (kind, id, session)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX lookups_by_session ON lookups (session);

  -- instr() first: most bodies need no parser. CASE, because one damaged fact must not keep the others from moving.
  INSERT OR IGNORE INTO lookups (kind, id, session)
    SELECT 'approval', body ->> '$.approval', session FROM facts
    WHERE instr(body, '"approval.requested"') > 0
      AND CASE WHEN json_valid(body) THEN body ->> '$.type' = 'approval.requested' END;
  INSERT OR IGNORE INTO lookups (kind, id, session)
    SELECT 'turn', body ->> '$.turn', session FROM facts
    WHERE instr(body, '"turn.started"') > 0
      AND CASE WHEN json_valid(body) THEN body ->> '$.type' = 'turn.started' END;

  -- what was asked last, unless the call has been allowed, denied or closed since
  UPDATE sessions SET approval = (
    SELECT asked.body ->> '$.approval' FROM facts AS asked
    WHERE asked.session = sessions.row
      AND CASE WHEN json_valid(asked.body) THEN asked.body ->> '$.type' = 'approval.requested' END
      AND NOT EXISTS (
        SELECT 1 FROM facts AS later
        WHERE later.session = asked.session AND later.seq > asked.seq
          AND CASE WHEN json_valid(later.body) THEN
            later.body ->> '$.type' IN ('approval.answered', 'tool.ended')
            AND later.body ->> '$.call' = asked.body ->> '$.call'
          END
      )
    ORDER BY asked.seq DESC LIMIT 1
  ) WHERE status = 'waiting';
  `,
  `
  ALTER TABLE sessions ADD COLUMN renamed INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE sessions ADD COLUMN first_input TEXT NOT NULL DEFAULT '';

  -- since the session was last cleared, if it was
  WITH cleared AS (
    SELECT session, max(seq) AS seq FROM facts
    WHERE instr(body, '"session.cleared"') > 0
      AND CASE WHEN json_valid(body) THEN body ->> '$.type' = 'session.cleared' END
    GROUP BY session
  ), since AS (
    SELECT row, coalesce(cleared.seq, 0) AS seq FROM sessions LEFT JOIN cleared ON cleared.session = sessions.row
  )
  UPDATE sessions SET
    renamed = EXISTS (
      SELECT 1 FROM facts WHERE facts.session = since.row AND facts.seq > since.seq
        AND instr(body, '"session.renamed"') > 0
        AND CASE WHEN json_valid(body) THEN body ->> '$.type' = 'session.renamed' END
    ),
    first_input = coalesce((
      SELECT substr(body ->> '$.parts[0].text', 1, 2000) FROM facts
      WHERE facts.session = since.row AND facts.seq > since.seq
        AND CASE WHEN json_valid(body) THEN
          body ->> '$.type' = 'input.accepted' AND body ->> '$.parts[0].text' <> ''
        END
      ORDER BY facts.seq LIMIT 1
    ), '')
  FROM since WHERE since.row = sessions.row;
  `,
  // These statements rewrite no rows.
  `
  ALTER TABLE facts RENAME TO events;
  ALTER TABLE events ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
  ALTER TABLE sessions RENAME COLUMN said TO message_count;
  ALTER TABLE users RENAME COLUMN generation TO token_version;

  -- the newest version of an event that may be in the database
  CREATE TABLE event_version (
    version INTEGER NOT NULL
  ) STRICT;
  INSERT INTO event_version (version) VALUES (1);
  `,
  `
  CREATE TABLE api_keys (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL REFERENCES users (name) ON DELETE CASCADE,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    dialects TEXT,
    hash TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    last_used_at INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX api_keys_by_owner ON api_keys (owner, created_at, id);
  `,
  `
  ALTER TABLE sessions ADD COLUMN ephemeral INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX sessions_ephemeral ON sessions (updated_at DESC, row DESC) WHERE ephemeral <> 0;
  `,
  `
  CREATE TABLE settings (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL,
    version INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  CREATE TABLE pairing_requests (
    id TEXT PRIMARY KEY,
    hash TEXT NOT NULL,
    origin TEXT NOT NULL,
    name TEXT NOT NULL,
    code TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX pairing_requests_by_end ON pairing_requests (expires_at);

  CREATE TABLE pairings (
    id TEXT PRIMARY KEY,
    hash TEXT NOT NULL,
    origin TEXT NOT NULL,
    name TEXT NOT NULL,
    -- null: whoever calls without a token in open mode
    owner TEXT REFERENCES users (name) ON DELETE CASCADE,
    role TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    allowed_at INTEGER NOT NULL,
    last_used_at INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX pairings_by_owner ON pairings (owner, allowed_at, id);
  CREATE INDEX pairings_by_origin ON pairings (origin);
  `,
  `
  ALTER TABLE sessions ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE sessions ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';
  CREATE INDEX sessions_pinned ON sessions (updated_at DESC, row DESC) WHERE pinned <> 0;
  CREATE INDEX sessions_pinned_by_owner ON sessions (owner, updated_at DESC, row DESC) WHERE pinned <> 0;
  CREATE INDEX sessions_tagged ON sessions (updated_at DESC, row DESC) WHERE tags <> '[]';
  CREATE INDEX sessions_tagged_by_owner ON sessions (owner, updated_at DESC, row DESC) WHERE tags <> '[]';
  `,
  `
  -- the last event whose message is in the search index
  ALTER TABLE sessions ADD COLUMN indexed INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX sessions_to_index ON sessions (owner) WHERE indexed < head AND ephemeral = 0;

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

  -- links that show a session; only hashes of their tokens are stored
  CREATE TABLE shares (
    hash TEXT PRIMARY KEY,
    id TEXT NOT NULL,
    session INTEGER NOT NULL REFERENCES sessions (row),
    seq INTEGER NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX shares_by_session ON shares (session);
  `,
  `
  -- filled together with the index of messages, which therefore begins anew
  CREATE TABLE turns (
    session INTEGER NOT NULL REFERENCES sessions (row),
    id TEXT NOT NULL,
    owner TEXT NOT NULL,
    state TEXT NOT NULL,
    at INTEGER NOT NULL,
    first_seq INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    -- approvals that were requested and not answered
    waiting INTEGER NOT NULL,
    PRIMARY KEY (session, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX turns_by_owner ON turns (owner, at DESC, session DESC, last_seq DESC);
  CREATE INDEX turns_by_owner_and_state ON turns (owner, state, at DESC, session DESC, last_seq DESC);
  CREATE INDEX turns_by_session ON turns (session, at DESC, last_seq DESC);
  INSERT INTO message_words (message_words) VALUES ('delete-all');
  DELETE FROM messages;
  UPDATE sessions SET indexed = 0;
  `,
  `
  ALTER TABLE api_keys ADD COLUMN administration INTEGER NOT NULL DEFAULT 0;
  -- the API key that approved the pairing, and its expiry
  ALTER TABLE pairings ADD COLUMN key TEXT REFERENCES api_keys (id) ON DELETE CASCADE;
  ALTER TABLE pairings ADD COLUMN expires_at INTEGER;
  CREATE INDEX pairings_by_key ON pairings (key);
  `,
];

/** The migration that renamed the events table. */
const EVENTS_SINCE = 6;

/** Name of the events table in a database of this version. */
export const eventsTable = (version: number): string => (version < EVENTS_SINCE ? 'facts' : 'events');

/** Throws, without writing anything, if the database belongs to another program or a newer version. */
export function migrate(database: Database, path: string, options: EventOptions = {}): void {
  if (stateOf(database, path, options) === 'current') return;
  database.run('BEGIN IMMEDIATE');
  try {
    // Check again: another process may have upgraded before we got the lock.
    for (const step of MIGRATIONS.slice(versionOf(database, path, options))) database.run(step);
    database.run('UPDATE event_version SET version = ?', [eventVersion(options.upcasts)]);
    database.run(`PRAGMA application_id = ${APPLICATION_ID}`);
    database.run(`PRAGMA user_version = ${MIGRATIONS.length}`);
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
  options: EventOptions = {},
): 'new' | 'older' | 'current' {
  // in one transaction, since another process may be creating the database
  return database.transaction(() => {
    const version = versionOf(database, path, options);
    if (version === 0) return 'new';
    const isCurrent = version === MIGRATIONS.length && eventsIn(database) === eventVersion(options.upcasts);
    return isCurrent ? 'current' : 'older';
  })();
}

/** Number of applied migrations. Throws if the database belongs to another program or a newer version. */
export function versionOf(database: Database, path: string, { upcasts }: EventOptions = {}): number {
  const application = numberFrom(database, 'SELECT application_id AS value FROM pragma_application_id');
  if (application !== APPLICATION_ID) {
    const isEmpty = numberFrom(database, 'SELECT count(*) AS value FROM sqlite_schema') === 0;
    if (application === 0 && isEmpty) return 0;
    throw new Error(`${path} is not a Parlance database`);
  }
  const version = numberFrom(database, 'SELECT user_version AS value FROM pragma_user_version');
  if (version > MIGRATIONS.length) {
    throw new Error(
      `${path} is from a newer version of Parlance (schema ${version}, this one knows ${MIGRATIONS.length})`,
    );
  }
  const events = version < EVENTS_SINCE ? 1 : eventsIn(database);
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
