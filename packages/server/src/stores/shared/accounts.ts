/**
 * The tables of accounts and of what belongs to them: users, API keys, pairings, revocations, preferences,
 * settings and shares, for both databases.
 */
import { type JsonObject, PrincipalId, Role, SessionId } from '@parlance/protocol';
import { z } from 'zod';
import {
  type ApiKey,
  type ApiKeyStore,
  KEPT_AFTER_EXPIRY_MS,
  type Pairing,
  type PairingRequest,
  type PairingStore,
  type PreferenceStore,
  type RevocationStore,
  type SettingsStore,
  type UserStore,
} from '../../accounts/store.ts';
import type { SessionRef, Share, ShareStore } from '../../core/ports/event-store.ts';

import { storable } from './text.ts';

type Row = Readonly<Record<string, unknown>>;
export type Statement = readonly [sql: string, values: readonly unknown[]];
/** Yields statements and receives their rows, so that SQLite, which is synchronous, can run it uninterrupted. */
export type Statements<Result> = Generator<Statement, Result, Row[]>;

/** What the tables need of a database. Placeholders are `$1`, `$2`, … */
export interface AccountDatabase {
  query(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  /**
   * Runs a write with RETURNING. If it returns rows, tells followers in all processes that something has
   * changed, and resolves with true.
   */
  change(sql: string, values: readonly unknown[]): Promise<boolean>;
  /** Runs the statements in one transaction. */
  atomically<Result>(statements: () => Statements<Result>): Promise<Result>;
  /** appended to a SELECT in a transaction: nobody else changes or removes its rows before the end */
  readonly lock: string;
  /** an expression: the clock of the database in milliseconds */
  readonly now: string;
  /** Selects `row` of the session. */
  sessionRow(ref: SessionRef): Statement;
}

export type AccountTables = {
  readonly users: UserStore;
  readonly apiKeys: ApiKeyStore;
  readonly pairings: PairingStore;
  readonly revocations: Pick<RevocationStore, 'add' | 'has' | 'list'>;
  readonly preferences: PreferenceStore;
  readonly settings: SettingsStore;
  readonly shares: ShareStore;
};

export const accountTables = (database: AccountDatabase): AccountTables => ({
  users: users(database),
  apiKeys: apiKeys(database),
  pairings: pairings(database),
  revocations: revocations(database),
  preferences: preferences(database),
  settings: settings(database),
  shares: shares(database),
});

// PostgreSQL returns BIGINT as text, SQLite has no booleans.
const Integer = z.coerce.number();
const Flag = z.coerce.boolean();
const Json = z.string().transform((text): unknown => JSON.parse(text));
const JsonValue = Json.pipe(z.record(z.string(), z.json()));

const storableOrNull = (text: string | null): string | null => (text === null ? null : storable(text));
const firstOf = <Parsed>(schema: z.ZodType<Parsed>, [row]: readonly Row[]): Parsed | null =>
  row ? schema.parse(row) : null;
const allOf = <Parsed>(schema: z.ZodType<Parsed>, rows: readonly Row[]): Parsed[] =>
  rows.map((row) => schema.parse(row));

const USER =
  'name, role, password_hash AS "passwordHash", created_at AS "createdAt", token_version AS "tokenVersion"';
const UserRow = z.object({
  name: z.string(),
  role: Role,
  passwordHash: z.string(),
  createdAt: Integer,
  tokenVersion: z.string(),
});

const users = ({ query, change }: AccountDatabase): UserStore => ({
  find: async (name) =>
    firstOf(UserRow, await query(`SELECT ${USER} FROM users WHERE name = $1`, [storable(name)])),
  everyone: async () => allOf(UserRow, await query(`SELECT ${USER} FROM users ORDER BY name`)),
  async put({ name, role, passwordHash, createdAt }) {
    await change(
      `INSERT INTO users (name, role, password_hash, created_at, token_version) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (name) DO UPDATE SET role = excluded.role, password_hash = excluded.password_hash,
         created_at = excluded.created_at, token_version = excluded.token_version
       RETURNING 1 AS one`,
      [storable(name), role, storable(passwordHash), createdAt, crypto.randomUUID()],
    );
  },
  remove: (name) => change('DELETE FROM users WHERE name = $1 RETURNING 1 AS one', [storable(name)]),
});

const KEY = `id, owner, name, role, dialects, administration, hash, created_at AS "createdAt",
  expires_at AS "expiresAt", last_used_at AS "lastUsedAt"`;
const KeyRow = z.object({
  id: z.string(),
  owner: z.string(),
  name: z.string(),
  role: Role,
  dialects: Json.pipe(z.array(z.string())).nullable(),
  administration: Flag,
  hash: z.string(),
  createdAt: Integer,
  expiresAt: Integer.nullable(),
  lastUsedAt: Integer.nullable(),
});

const apiKeys = ({ query, change, atomically, lock }: AccountDatabase): ApiKeyStore => ({
  find: async (id) =>
    firstOf(KeyRow, await query(`SELECT ${KEY} FROM api_keys WHERE id = $1`, [storable(id)])),
  list: async (owner) =>
    allOf(
      KeyRow,
      owner === undefined
        ? await query(`SELECT ${KEY} FROM api_keys ORDER BY created_at, id`)
        : await query(`SELECT ${KEY} FROM api_keys WHERE owner = $1 ORDER BY created_at, id`, [
            storable(owner),
          ]),
    ),
  /** Locks the user, so that nobody else adds a key of the same owner between count and insert. */
  add: (key: ApiKey, max) =>
    atomically(function* () {
      const owner = storable(key.owner);
      const [user] = yield [`SELECT name FROM users WHERE name = $1 ${lock}`, [owner]];
      if (!user) return 'no_user';
      const [counted] = yield ['SELECT count(*) AS keys FROM api_keys WHERE owner = $1', [owner]];
      if (Number(counted?.keys) >= max) return 'too_many';
      yield [
        `INSERT INTO api_keys (id, owner, name, role, dialects, administration, hash, created_at, expires_at,
           last_used_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
        [
          storable(key.id),
          owner,
          storable(key.name),
          key.role,
          key.dialects && JSON.stringify(key.dialects.map(storable)),
          key.administration,
          key.hash,
          key.createdAt,
          key.expiresAt,
          key.lastUsedAt,
        ],
      ];
      return 'added';
    }),
  remove: (id, owner) =>
    owner === undefined
      ? change('DELETE FROM api_keys WHERE id = $1 RETURNING 1 AS one', [storable(id)])
      : change('DELETE FROM api_keys WHERE id = $1 AND owner = $2 RETURNING 1 AS one', [
          storable(id),
          storable(owner),
        ]),
  used: (times) => atomically(() => used('api_keys', times)),
});

/** Writes in id order, so that two nodes cannot deadlock. */
function* used(table: 'api_keys' | 'pairings', times: ReadonlyMap<string, number>): Statements<void> {
  const entries = [...times].map(([id, at]) => [storable(id), at] as const);
  for (const entry of entries.sort(([one], [other]) => (one < other ? -1 : 1)))
    yield [`UPDATE ${table} SET last_used_at = $2 WHERE id = $1 AND coalesce(last_used_at, 0) < $2`, entry];
}

const EXTENSION = 'id, hash, origin, name, created_at AS "createdAt", expires_at AS "expiresAt"';
const REQUEST = `${EXTENSION}, code`;
const PAIRING = `${EXTENSION}, owner, role, key, allowed_at AS "allowedAt", last_used_at AS "lastUsedAt"`;
const ExtensionRow = z.object({
  id: z.string(),
  hash: z.string(),
  origin: z.string(),
  name: z.string(),
  createdAt: Integer,
});
const RequestRow = ExtensionRow.extend({ code: z.string(), expiresAt: Integer });
const PairingRow = ExtensionRow.extend({
  owner: z.string().nullable(),
  role: Role,
  key: z.string().nullable(),
  allowedAt: Integer,
  expiresAt: Integer.nullable(),
  lastUsedAt: Integer.nullable(),
});

const pairings = ({ query, change, atomically, lock }: AccountDatabase): PairingStore => ({
  /** Concurrent requests of several nodes may slightly exceed `max`. */
  async request({ id, hash, origin, name, createdAt, code, expiresAt }: PairingRequest, max) {
    await query('DELETE FROM pairing_requests WHERE expires_at <= $1', [createdAt]);
    const added = await query(
      `INSERT INTO pairing_requests (id, hash, origin, name, created_at, code, expires_at)
       SELECT CAST($1 AS TEXT), CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS TEXT), CAST($5 AS BIGINT),
         CAST($6 AS TEXT), CAST($7 AS BIGINT)
       WHERE (SELECT count(*) FROM pairing_requests) < $8
       ON CONFLICT (code) DO NOTHING RETURNING 1 AS one`,
      [id, hash, storable(origin), storable(name), createdAt, code, expiresAt, max],
    );
    return added.length > 0;
  },
  requests: async () =>
    allOf(RequestRow, await query(`SELECT ${REQUEST} FROM pairing_requests ORDER BY created_at, id`)),
  findRequest: async (id) =>
    firstOf(RequestRow, await query(`SELECT ${REQUEST} FROM pairing_requests WHERE id = $1`, [storable(id)])),
  requestWith: async (code) =>
    firstOf(
      RequestRow,
      await query(`SELECT ${REQUEST} FROM pairing_requests WHERE code = $1`, [storable(code)]),
    ),
  takeRequest: async (id) =>
    firstOf(
      RequestRow,
      await query(`DELETE FROM pairing_requests WHERE id = $1 RETURNING ${REQUEST}`, [storable(id)]),
    ),
  find: async (id) =>
    firstOf(PairingRow, await query(`SELECT ${PAIRING} FROM pairings WHERE id = $1`, [storable(id)])),
  list: async (owner) =>
    allOf(
      PairingRow,
      owner === undefined
        ? await query(`SELECT ${PAIRING} FROM pairings ORDER BY allowed_at, id`)
        : await query(
            `SELECT ${PAIRING} FROM pairings WHERE owner IS NOT DISTINCT FROM CAST($1 AS TEXT)
             ORDER BY allowed_at, id`,
            [storableOrNull(owner)],
          ),
    ),
  /** Locks user and key, so that a concurrent removal comes either before, or after and removes the pairing. */
  add: (pairing: Pairing) =>
    atomically(function* () {
      const [owner, key] = [storableOrNull(pairing.owner), storableOrNull(pairing.key)];
      const user = owner !== null && (yield [`SELECT name FROM users WHERE name = $1 ${lock}`, [owner]]);
      if (user && user.length === 0) return false;
      const approver = key !== null && (yield [`SELECT id FROM api_keys WHERE id = $1 ${lock}`, [key]]);
      if (approver && approver.length === 0) return false;
      yield [
        `INSERT INTO pairings (id, hash, origin, name, created_at, expires_at, owner, role, key, allowed_at,
           last_used_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
        [
          storable(pairing.id),
          pairing.hash,
          storable(pairing.origin),
          storable(pairing.name),
          pairing.createdAt,
          pairing.expiresAt,
          owner,
          pairing.role,
          key,
          pairing.allowedAt,
          pairing.lastUsedAt,
        ],
      ];
      return true;
    }),
  hasOrigin: async (origin) =>
    (await query('SELECT 1 AS one FROM pairings WHERE origin = $1 LIMIT 1', [storable(origin)])).length > 0,
  remove: (id, owner) =>
    owner === undefined
      ? change('DELETE FROM pairings WHERE id = $1 RETURNING 1 AS one', [storable(id)])
      : change(
          `DELETE FROM pairings WHERE id = $1 AND owner IS NOT DISTINCT FROM CAST($2 AS TEXT)
           RETURNING 1 AS one`,
          [storable(id), storableOrNull(owner)],
        ),
  used: (times) => atomically(() => used('pairings', times)),
});

const RevocationRow = z.object({ id: z.string(), until: Integer });

const revocations = ({ query, change, now }: AccountDatabase): AccountTables['revocations'] => ({
  /** Prunes by the clock of the database: that of a node may be wrong. */
  async add(id, until) {
    await query(`DELETE FROM revocations WHERE until < ${now} - $1 AND id <> $2`, [
      KEPT_AFTER_EXPIRY_MS,
      storable(id),
    ]);
    await change(
      `INSERT INTO revocations (id, until) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET
         until = CASE WHEN revocations.until > excluded.until THEN revocations.until ELSE excluded.until END
       RETURNING 1 AS one`,
      [storable(id), Math.trunc(until)],
    );
  },
  list: async () =>
    allOf(RevocationRow, await query('SELECT id, until FROM revocations WHERE until >= $1', [Date.now()])),
  has: async (id) =>
    (await query('SELECT 1 AS one FROM revocations WHERE id = $1', [storable(id)])).length > 0,
});

const preferences = ({ query }: AccountDatabase): PreferenceStore => ({
  async get(owner) {
    const rows = await query('SELECT value FROM preferences WHERE owner = $1', [storable(owner)]);
    return firstOf(z.object({ value: JsonValue }), rows)?.value ?? null;
  },
  async put(owner, value: JsonObject) {
    await query(
      'INSERT INTO preferences (owner, value) VALUES ($1, $2) ON CONFLICT (owner) DO UPDATE SET value = excluded.value',
      [storable(owner), JSON.stringify(value)],
    );
  },
});

const DocumentRow = z.object({ value: JsonValue, version: Integer });

const settings = ({ query, change }: AccountDatabase): SettingsStore => ({
  read: async (name) =>
    firstOf(DocumentRow, await query('SELECT value, version FROM settings WHERE name = $1', [name])),
  write: (name, value, expected) =>
    expected === 0
      ? change(
          `INSERT INTO settings (name, value, version) VALUES ($1, $2, 1) ON CONFLICT (name) DO NOTHING
           RETURNING version`,
          [name, JSON.stringify(value)],
        )
      : change(
          `UPDATE settings SET value = $2, version = version + 1 WHERE name = $1 AND version = $3
           RETURNING version`,
          [name, JSON.stringify(value), expected],
        ),
});

const SHARE = `
  SELECT shares.id, sessions.owner, sessions.id AS session, hash, seq, shares.created_at AS "createdAt"
  FROM shares JOIN sessions ON sessions.row = shares.session`;
const ShareRow = z
  .object({
    id: z.string(),
    owner: PrincipalId,
    session: SessionId,
    hash: z.string(),
    seq: Integer,
    createdAt: Integer,
  })
  .transform(({ owner, session, ...share }): Share => ({ ...share, ref: { owner, id: session } }));

const shares = ({ query, atomically, lock, sessionRow }: AccountDatabase): ShareStore => ({
  find: async (hash) => firstOf(ShareRow, await query(`${SHARE} WHERE hash = $1`, [hash])),
  async list(ref) {
    const [session] = await query(...sessionRow(ref));
    if (!session) return [];
    const rows = await query(`${SHARE} WHERE session = $1 ORDER BY shares.created_at, shares.id`, [
      session.row,
    ]);
    return allOf(ShareRow, rows);
  },
  /** Locks the session, so that it is not erased and nobody else adds a share between count and insert. */
  add: (share: Share, max) =>
    atomically(function* () {
      const [select, key] = sessionRow(share.ref);
      const [session] = yield [`${select} ${lock}`, key];
      if (!session) return 'no_session';
      const [counted] = yield ['SELECT count(*) AS shares FROM shares WHERE session = $1', [session.row]];
      if (Number(counted?.shares) >= max) return 'too_many';
      const { hash, id, seq, createdAt } = share;
      yield [
        'INSERT INTO shares (hash, id, session, seq, created_at) VALUES ($1, $2, $3, $4, $5)',
        [hash, id, session.row, seq, createdAt],
      ];
      return 'added';
    }),
  async remove(ref, id) {
    const [session] = await query(...sessionRow(ref));
    if (!session) return false;
    const removed = await query('DELETE FROM shares WHERE id = $1 AND session = $2 RETURNING 1 AS one', [
      id,
      session.row,
    ]);
    return removed.length > 0;
  },
});
