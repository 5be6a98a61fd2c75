/** Tables and indexes that both databases have. Part of migrations: never change them. */

export type ColumnTypes = {
  /** text that is compared by code point */
  readonly key: string;
  readonly integer: string;
  readonly flag: string;
  /** a reference to a session */
  readonly session: string;
  /** after the columns */
  readonly options: string;
  is(flag: string): string;
  not(flag: string): string;
};

export const sessionIndexes = ({ is, not }: ColumnTypes): string => `
  CREATE INDEX sessions_by_owner ON sessions (owner, updated_at DESC, row DESC);
  CREATE INDEX sessions_by_change ON sessions (updated_at DESC, row DESC);
  CREATE INDEX sessions_by_status ON sessions (status, updated_at DESC, row DESC);
  CREATE INDEX sessions_by_owner_and_status ON sessions (owner, status, updated_at DESC, row DESC);
  CREATE INDEX sessions_by_id ON sessions (id);
  CREATE INDEX sessions_awaiting_approval ON sessions (updated_at DESC, row DESC) WHERE approval IS NOT NULL;
  CREATE INDEX sessions_awaiting_approval_by_owner ON sessions (owner, updated_at DESC, row DESC)
    WHERE approval IS NOT NULL;
  CREATE INDEX sessions_ephemeral ON sessions (updated_at DESC, row DESC) WHERE ${is('ephemeral')};
  CREATE INDEX sessions_pinned ON sessions (updated_at DESC, row DESC) WHERE ${is('pinned')};
  CREATE INDEX sessions_pinned_by_owner ON sessions (owner, updated_at DESC, row DESC) WHERE ${is('pinned')};
  CREATE INDEX sessions_tagged ON sessions (updated_at DESC, row DESC) WHERE tags <> '[]';
  CREATE INDEX sessions_tagged_by_owner ON sessions (owner, updated_at DESC, row DESC) WHERE tags <> '[]';
  CREATE INDEX sessions_to_index ON sessions (owner) WHERE indexed < head AND ${not('ephemeral')};`;

export const sharedTables = ({ key, integer, flag, session, options }: ColumnTypes): string => `
  CREATE TABLE lookups (
    kind ${key} NOT NULL,
    id ${key} NOT NULL,
    session ${session},
    PRIMARY KEY (kind, id, session)
  )${options};
  CREATE INDEX lookups_by_session ON lookups (session);

  -- filled together with the index of messages
  CREATE TABLE turns (
    session ${session},
    id ${key} NOT NULL,
    owner ${key} NOT NULL,
    state ${key} NOT NULL,
    at ${integer} NOT NULL,
    first_seq ${integer} NOT NULL,
    last_seq ${integer} NOT NULL,
    -- approvals that were requested and not answered
    waiting INTEGER NOT NULL,
    PRIMARY KEY (session, id)
  )${options};
  CREATE INDEX turns_by_owner ON turns (owner, at DESC, session DESC, last_seq DESC);
  CREATE INDEX turns_by_owner_and_state ON turns (owner, state, at DESC, session DESC, last_seq DESC);
  CREATE INDEX turns_by_session ON turns (session, at DESC, last_seq DESC);

  -- links that show a session; only hashes of their tokens are stored
  CREATE TABLE shares (
    hash ${key} PRIMARY KEY,
    id ${key} NOT NULL,
    session ${session},
    seq ${integer} NOT NULL,
    created_at ${integer} NOT NULL
  )${options};
  CREATE INDEX shares_by_session ON shares (session);

  CREATE TABLE users (
    name ${key} PRIMARY KEY,
    role TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    created_at ${integer} NOT NULL,
    token_version TEXT NOT NULL
  )${options};

  CREATE TABLE api_keys (
    id ${key} PRIMARY KEY,
    owner ${key} NOT NULL REFERENCES users (name) ON DELETE CASCADE,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    -- JSON
    dialects TEXT,
    administration ${flag} NOT NULL,
    hash TEXT NOT NULL,
    created_at ${integer} NOT NULL,
    expires_at ${integer},
    last_used_at ${integer}
  )${options};
  CREATE INDEX api_keys_by_owner ON api_keys (owner, created_at, id);

  CREATE TABLE pairing_requests (
    id ${key} PRIMARY KEY,
    hash TEXT NOT NULL,
    origin TEXT NOT NULL,
    name TEXT NOT NULL,
    code ${key} NOT NULL UNIQUE,
    created_at ${integer} NOT NULL,
    expires_at ${integer} NOT NULL
  )${options};
  CREATE INDEX pairing_requests_by_end ON pairing_requests (expires_at);

  CREATE TABLE pairings (
    id ${key} PRIMARY KEY,
    hash TEXT NOT NULL,
    origin ${key} NOT NULL,
    name TEXT NOT NULL,
    -- null: whoever calls without a token in open mode
    owner ${key} REFERENCES users (name) ON DELETE CASCADE,
    role TEXT NOT NULL,
    -- the API key that approved the pairing, and its expiry
    key ${key} REFERENCES api_keys (id) ON DELETE CASCADE,
    expires_at ${integer},
    created_at ${integer} NOT NULL,
    allowed_at ${integer} NOT NULL,
    last_used_at ${integer}
  )${options};
  CREATE INDEX pairings_by_owner ON pairings (owner, allowed_at, id);
  CREATE INDEX pairings_by_origin ON pairings (origin);
  CREATE INDEX pairings_by_key ON pairings (key);

  CREATE TABLE revocations (
    id ${key} PRIMARY KEY,
    until ${integer} NOT NULL
  )${options};
  CREATE INDEX revocations_by_end ON revocations (until);

  CREATE TABLE preferences (
    owner ${key} PRIMARY KEY,
    value TEXT NOT NULL
  )${options};

  CREATE TABLE settings (
    name ${key} PRIMARY KEY,
    value TEXT NOT NULL,
    version ${integer} NOT NULL
  )${options};`;

/** Decisions about files that would become instructions. An owner of '' is everybody. */
export const decisionTable = ({ key, integer, options }: ColumnTypes): string => `
  CREATE TABLE file_decisions (
    owner ${key} NOT NULL,
    path ${key} NOT NULL,
    hash ${key} NOT NULL,
    state TEXT NOT NULL,
    -- JSON
    content TEXT NOT NULL,
    decided_by TEXT NOT NULL,
    decided_at ${integer} NOT NULL,
    PRIMARY KEY (owner, path, hash)
  )${options};`;

/** Browsers in which users have signed in, and invitations of new users. */
export const signInTables = ({ key, integer, flag, options }: ColumnTypes): string => `
  CREATE TABLE sign_ins (
    id ${key} PRIMARY KEY,
    owner ${key} NOT NULL REFERENCES users (name) ON DELETE CASCADE,
    token_version TEXT NOT NULL,
    key_hash TEXT NOT NULL,
    hash TEXT NOT NULL,
    previous_hash TEXT,
    seen ${flag} NOT NULL,
    created_at ${integer} NOT NULL,
    rotated_at ${integer} NOT NULL,
    expires_at ${integer} NOT NULL
  )${options};
  CREATE INDEX sign_ins_by_owner ON sign_ins (owner, created_at, id);

  CREATE TABLE invitations (
    id ${key} PRIMARY KEY,
    hash TEXT NOT NULL,
    name ${key} NOT NULL,
    role TEXT NOT NULL,
    created_by ${key} NOT NULL REFERENCES users (name) ON DELETE CASCADE,
    created_at ${integer} NOT NULL,
    expires_at ${integer} NOT NULL
  )${options};
  CREATE INDEX invitations_by_admin ON invitations (created_by);`;
