/**
 * The tables of accounts and of what belongs to them: users, API keys, sign-ins, invitations, pairings, revocations, preferences,
 * settings and shares, for both databases.
 */
import { type JsonObject, PrincipalId, Role, SessionId } from '@parlance/protocol';
import { z } from 'zod';
import {
  type ApiKey,
  type ApiKeyStore,
  type DecisionStore,
  type FileDecision,
  type Invitation,
  type InvitationStore,
  KEPT_AFTER_EXPIRY_MS,
  type Pairing,
  type PairingRequest,
  type PairingStore,
  type PreferenceStore,
  type RevocationStore,
  type SettingsStore,
  type SignIn,
  type SignInStore,
  type UserStore,
} from '../../accounts/store.ts';
import type { Share, ShareStore, WebhookStore } from '../../core/ports/event-store.ts';
import {
  Flag,
  Integer,
  json,
  type Row,
  type SharedDatabase,
  type Statement,
  type Statements,
  selectSession,
} from './database.ts';
import { storable, storableOrNull } from './text.ts';
import { webhookQueries } from './webhooks.ts';

export type AccountTables = {
  readonly users: UserStore;
  readonly apiKeys: ApiKeyStore;
  readonly invitations: InvitationStore;
  readonly pairings: PairingStore;
  readonly signIns: SignInStore;
  readonly revocations: Pick<RevocationStore, 'add' | 'has' | 'list'>;
  readonly preferences: PreferenceStore;
  readonly settings: SettingsStore;
  readonly decisions: DecisionStore;
  readonly shares: ShareStore;
  readonly webhooks: WebhookStore;
};

export const accountTables = (database: SharedDatabase): AccountTables => ({
  users: users(database),
  apiKeys: apiKeys(database),
  invitations: invitations(database),
  pairings: pairings(database),
  signIns: signIns(database),
  revocations: revocations(database),
  preferences: preferences(database),
  settings: settings(database),
  decisions: decisions(database),
  shares: shares(database),
  webhooks: webhookQueries(database),
});

const JsonValue = json(z.record(z.string(), z.json()));

const firstOf = <Parsed>(schema: z.ZodType<Parsed>, [row]: readonly Row[]): Parsed | null =>
  row ? schema.parse(row) : null;
const allOf = <Parsed>(schema: z.ZodType<Parsed>, rows: readonly Row[]): Parsed[] =>
  rows.map((row) => schema.parse(row));

const columnOf = (key: string): string => key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The columns of a table, named as in its schema. */
const columns = (schema: z.ZodObject): string =>
  Object.keys(schema.shape)
    .map((key) => `${columnOf(key)} AS "${key}"`)
    .join(', ');

function insert<Schema extends z.ZodObject>(
  table: string,
  schema: Schema,
  row: Readonly<Record<keyof z.infer<Schema>, unknown>>,
): Statement {
  const keys = Object.keys(schema.shape) as (keyof z.infer<Schema>)[];
  const values = keys.map((key) => (typeof row[key] === 'string' ? storable(row[key]) : row[key]));
  return [
    `INSERT INTO ${table} (${keys.map((key) => columnOf(String(key))).join(', ')})
     VALUES (${keys.map((_, index) => `$${index + 1}`).join(', ')})`,
    values,
  ];
}

const UserRow = z.object({
  name: z.string(),
  role: Role,
  passwordHash: z.string(),
  createdAt: Integer,
  tokenVersion: z.string(),
});
const USER = columns(UserRow);

const users = ({ query, change }: SharedDatabase): UserStore => ({
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
  async remove(name) {
    // Whoever has this name next decides anew.
    await query('DELETE FROM file_decisions WHERE owner = $1', [storable(name)]);
    return change('DELETE FROM users WHERE name = $1 RETURNING 1 AS one', [storable(name)]);
  },
});

const KeyRow = z.object({
  id: z.string(),
  owner: z.string(),
  name: z.string(),
  role: Role,
  dialects: json(z.array(z.string()).nullable()),
  administration: Flag,
  hash: z.string(),
  createdAt: Integer,
  expiresAt: Integer.nullable(),
  lastUsedAt: Integer.nullable(),
});
const KEY = columns(KeyRow);

const apiKeys = ({ query, change, atomically, dialect }: SharedDatabase): ApiKeyStore => ({
  find: async (id) =>
    firstOf(KeyRow, await query(`SELECT ${KEY} FROM api_keys WHERE id = $1`, [storable(id)])),
  list: async (owner) =>
    allOf(
      KeyRow,
      await query(
        `SELECT ${KEY} FROM api_keys ${owner === undefined ? '' : 'WHERE owner = $1'} ORDER BY created_at, id`,
        owner === undefined ? [] : [storable(owner)],
      ),
    ),
  /** Locks the user, so that nobody else adds a key of the same owner between count and insert. */
  add: (key: ApiKey, max) =>
    atomically(function* () {
      const owner = storable(key.owner);
      const [user] = yield [`SELECT name FROM users WHERE name = $1 ${dialect.lock}`, [owner]];
      if (!user) return 'no_user';
      const [counted] = yield ['SELECT count(*) AS keys FROM api_keys WHERE owner = $1', [owner]];
      if (Number(counted?.keys) >= max) return 'too_many';
      const dialects = key.dialects && JSON.stringify(key.dialects.map(storable));
      yield insert('api_keys', KeyRow, { ...key, dialects });
      return 'added';
    }),
  remove: (id, owner) =>
    change(
      `DELETE FROM api_keys WHERE id = $1 ${owner === undefined ? '' : 'AND owner = $2'} RETURNING 1 AS one`,
      owner === undefined ? [storable(id)] : [storable(id), storable(owner)],
    ),
  used: (times) => atomically(() => used('api_keys', times)),
});

/** Writes in id order, so that two nodes cannot deadlock. */
function* used(table: 'api_keys' | 'pairings', times: ReadonlyMap<string, number>): Statements<void> {
  const entries = [...times].map(([id, at]) => [storable(id), at] as const);
  for (const entry of entries.sort(([one], [other]) => (one < other ? -1 : 1)))
    yield [`UPDATE ${table} SET last_used_at = $2 WHERE id = $1 AND coalesce(last_used_at, 0) < $2`, entry];
}

const SignInRow = z.object({
  id: z.string(),
  owner: z.string(),
  tokenVersion: z.string(),
  keyHash: z.string(),
  hash: z.string(),
  previousHash: z.string().nullable(),
  seen: Flag,
  createdAt: Integer,
  rotatedAt: Integer,
  expiresAt: Integer,
});
const SIGN_IN = columns(SignInRow);

const signIns = ({ query, change, atomically, dialect }: SharedDatabase): SignInStore => ({
  find: async (id) =>
    firstOf(SignInRow, await query(`SELECT ${SIGN_IN} FROM sign_ins WHERE id = $1`, [storable(id)])),
  /** Locks the user, so that a concurrent change comes either before, or after and ends the sign-in. */
  add: (signIn: SignIn, max) =>
    atomically(function* () {
      const { tokenVersion, createdAt } = signIn;
      const owner = storable(signIn.owner);
      const [user] = yield [`SELECT token_version FROM users WHERE name = $1 ${dialect.lock}`, [owner]];
      if (user?.token_version !== tokenVersion) return false;
      yield insert('sign_ins', SignInRow, signIn);
      yield [
        `DELETE FROM sign_ins WHERE owner = $1 AND (expires_at <= $2 OR token_version <> $3 OR id NOT IN
           (SELECT id FROM sign_ins WHERE owner = $1 ORDER BY created_at DESC, id DESC LIMIT $4))`,
        [owner, createdAt, tokenVersion, max],
      ];
      return true;
    }),
  async rotate(id, expected, { hash, previousHash, rotatedAt, expiresAt }) {
    const rotated = await query(
      `UPDATE sign_ins SET hash = $3, previous_hash = $4, rotated_at = $5, expires_at = $6, seen = $7
       WHERE id = $1 AND hash = $2 RETURNING 1 AS one`,
      [storable(id), expected, hash, previousHash, rotatedAt, expiresAt, false],
    );
    return rotated.length > 0;
  },
  async markSeen(id, hash) {
    await query('UPDATE sign_ins SET seen = $3 WHERE id = $1 AND hash = $2', [storable(id), hash, true]);
  },
  remove: (id) => change('DELETE FROM sign_ins WHERE id = $1 RETURNING 1 AS one', [storable(id)]),
});

const InvitationRow = z.object({
  id: z.string(),
  hash: z.string(),
  name: z.string(),
  role: Role,
  createdBy: z.string(),
  createdAt: Integer,
  expiresAt: Integer,
});
const INVITATION = columns(InvitationRow);

const invitations = ({ query, atomically, dialect }: SharedDatabase): InvitationStore => ({
  find: async (id) =>
    firstOf(
      InvitationRow,
      await query(`SELECT ${INVITATION} FROM invitations WHERE id = $1`, [storable(id)]),
    ),
  list: async () =>
    allOf(InvitationRow, await query(`SELECT ${INVITATION} FROM invitations ORDER BY created_at, id`)),
  add: (invitation: Invitation, max) =>
    atomically(function* () {
      const { name, createdBy, createdAt } = invitation;
      const [admin] = yield [`SELECT name FROM users WHERE name = $1 ${dialect.lock}`, [storable(createdBy)]];
      if (!admin) return false;
      yield ['DELETE FROM invitations WHERE expires_at <= $1 OR name = $2', [createdAt, storable(name)]];
      const [counted] = yield ['SELECT count(*) AS invitations FROM invitations', []];
      if (Number(counted?.invitations) >= max) return false;
      yield insert('invitations', InvitationRow, invitation);
      return true;
    }),
  accept: (id, { name, role, passwordHash, createdAt }) =>
    atomically(function* () {
      // Locked, so that concurrent acceptances come one after another.
      const [found] = yield [`SELECT id FROM invitations WHERE id = $1 ${dialect.lock}`, [storable(id)]];
      if (!found) return 'gone';
      const [existing] = yield ['SELECT 1 AS one FROM users WHERE name = $1', [storable(name)]];
      if (existing) return 'taken';
      yield ['DELETE FROM invitations WHERE id = $1', [storable(id)]];
      yield insert('users', UserRow, {
        ...{ name, role, passwordHash, createdAt },
        tokenVersion: crypto.randomUUID(),
      });
      return 'accepted';
    }),
  async remove(id) {
    const removed = await query('DELETE FROM invitations WHERE id = $1 RETURNING 1 AS one', [storable(id)]);
    return removed.length > 0;
  },
});

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

const REQUEST = columns(RequestRow);
const PAIRING = columns(PairingRow);
const OWNED = 'owner IS NOT DISTINCT FROM CAST';

const pairings = ({ query, change, atomically, dialect }: SharedDatabase): PairingStore => ({
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
      await query(
        `SELECT ${PAIRING} FROM pairings ${owner === undefined ? '' : `WHERE ${OWNED}($1 AS TEXT)`}
         ORDER BY allowed_at, id`,
        owner === undefined ? [] : [storableOrNull(owner)],
      ),
    ),
  /** Locks user and key, so that a concurrent removal comes either before, or after and removes the pairing. */
  add: (pairing: Pairing) =>
    atomically(function* () {
      const [owner, key] = [storableOrNull(pairing.owner), storableOrNull(pairing.key)];
      const user =
        owner !== null && (yield [`SELECT name FROM users WHERE name = $1 ${dialect.lock}`, [owner]]);
      if (user && user.length === 0) return false;
      const approver =
        key !== null && (yield [`SELECT id FROM api_keys WHERE id = $1 ${dialect.lock}`, [key]]);
      if (approver && approver.length === 0) return false;
      yield insert('pairings', PairingRow, pairing);
      return true;
    }),
  hasOrigin: async (origin) =>
    (await query('SELECT 1 AS one FROM pairings WHERE origin = $1 LIMIT 1', [storable(origin)])).length > 0,
  remove: (id, owner) =>
    change(
      `DELETE FROM pairings WHERE id = $1 ${owner === undefined ? '' : `AND ${OWNED}($2 AS TEXT)`}
       RETURNING 1 AS one`,
      owner === undefined ? [storable(id)] : [storable(id), storableOrNull(owner)],
    ),
  used: (times) => atomically(() => used('pairings', times)),
});

const RevocationRow = z.object({ id: z.string(), until: Integer });

const revocations = ({ query, change, dialect }: SharedDatabase): AccountTables['revocations'] => ({
  /** Prunes by the clock of the database: that of a node may be wrong. */
  async add(id, until) {
    await query(`DELETE FROM revocations WHERE until < ${dialect.now} - $1 AND id <> $2`, [
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

const preferences = ({ query }: SharedDatabase): PreferenceStore => ({
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

const settings = ({ query, change }: SharedDatabase): SettingsStore => ({
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

const DecisionRow = z.object({
  owner: z.string().transform((owner) => (owner === '' ? null : PrincipalId.parse(owner))),
  path: z.string(),
  hash: z.string(),
  state: z.enum(['asked', 'used', 'declined']),
  by: z.string(),
  at: Integer,
});
const DECISION = 'owner, path, hash, state, decided_by AS "by", decided_at AS "at"';
const Content = json(z.string());

const decisions = ({ query, atomically }: SharedDatabase): DecisionStore => ({
  async find(owner, paths) {
    if (paths.length === 0) return [];
    const rows = await query(
      `SELECT ${DECISION}, content FROM file_decisions
       WHERE owner IN ('', $1) AND path IN (${paths.map((_, index) => `$${index + 2}`).join(', ')})
       ORDER BY decided_at, hash`,
      [storable(owner ?? ''), ...paths.map(storable)],
    );
    return allOf(DecisionRow.extend({ content: Content }), rows);
  },
  list: async (owner) =>
    allOf(
      DecisionRow,
      await query(`SELECT ${DECISION} FROM file_decisions WHERE owner = $1 ORDER BY path, decided_at`, [
        storable(owner ?? ''),
      ]),
    ),
  put: ({ owner, path, hash, state, content, by, at }: FileDecision, max) =>
    atomically(function* () {
      const [of, file] = [storable(owner ?? ''), storable(path)];
      if (state !== 'asked')
        yield [
          `DELETE FROM file_decisions WHERE owner = $1 AND path = $2 ${state === 'used' ? '' : "AND (state <> 'used' OR hash = $3)"}`,
          state === 'used' ? [of, file] : [of, file, hash],
        ];
      yield [
        `INSERT INTO file_decisions (owner, path, hash, state, content, decided_by, decided_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (owner, path, hash) DO NOTHING`,
        [of, file, hash, state, JSON.stringify(content), storable(by), at],
      ];
      yield [
        `DELETE FROM file_decisions WHERE owner = $1 AND hash <> '' AND decided_at <
           (SELECT decided_at FROM file_decisions WHERE owner = $1 ORDER BY decided_at DESC LIMIT 1 OFFSET $2)`,
        [of, max - 1],
      ];
    }),
  async remove(owner, path) {
    const removed = await query(
      'DELETE FROM file_decisions WHERE owner = $1 AND path = $2 RETURNING 1 AS one',
      [storable(owner ?? ''), storable(path)],
    );
    return removed.length > 0;
  },
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

const shares = ({ query, atomically, dialect }: SharedDatabase): ShareStore => ({
  find: async (hash) => firstOf(ShareRow, await query(`${SHARE} WHERE hash = $1`, [hash])),
  async list(ref) {
    const [session] = await query(...selectSession(dialect, ref));
    if (!session) return [];
    const rows = await query(`${SHARE} WHERE session = $1 ORDER BY shares.created_at, shares.id`, [
      session.row,
    ]);
    return allOf(ShareRow, rows);
  },
  /** Locks the session, so that it is not erased and nobody else adds a share between count and insert. */
  add: (share: Share, max) =>
    atomically(function* () {
      const [select, key] = selectSession(dialect, share.ref);
      const [session] = yield [`${select} ${dialect.lock}`, key];
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
    const [session] = await query(...selectSession(dialect, ref));
    if (!session) return false;
    const removed = await query('DELETE FROM shares WHERE id = $1 AND session = $2 RETURNING 1 AS one', [
      id,
      session.row,
    ]);
    return removed.length > 0;
  },
});
