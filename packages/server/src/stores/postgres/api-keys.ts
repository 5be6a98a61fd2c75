import { Role } from '@parlance/protocol';
import { z } from 'zod';
import type { ApiKey } from '../../core/ports/api-keys.ts';
import { storable } from '../shared/text.ts';
import type { Database } from './database.ts';

const ApiKeyRow = z.object({
  id: z.string(),
  owner: z.string(),
  name: z.string(),
  role: Role,
  dialects: z.array(z.string()).nullable(),
  administration: z.boolean(),
  hash: z.string(),
  createdAt: z.coerce.number(),
  expiresAt: z.coerce.number().nullable(),
  lastUsedAt: z.coerce.number().nullable(),
});

const SELECT_KEY = `
  SELECT id, owner, name, role, dialects, administration, hash, created_at AS "createdAt", expires_at AS "expiresAt",
    last_used_at AS "lastUsedAt"
  FROM api_keys`;

export const prepareApiKeys = (database: Database) => ({
  async find(id: string): Promise<ApiKey | null> {
    const [found] = await database.query(`${SELECT_KEY} WHERE id = $1`, [storable(id)]);
    return found ? ApiKeyRow.parse(found) : null;
  },

  async list(owner?: string): Promise<ApiKey[]> {
    const found =
      owner === undefined
        ? await database.query(`${SELECT_KEY} ORDER BY created_at, id`)
        : await database.query(`${SELECT_KEY} WHERE owner = $1 ORDER BY created_at, id`, [storable(owner)]);
    return found.map((row) => ApiKeyRow.parse(row));
  },

  /** Locks the user, so that no other node adds a key of the same owner between count and insert. */
  add: (key: ApiKey, max: number): Promise<'added' | 'too_many' | 'no_user'> =>
    database.transaction(async ({ query }) => {
      const owner = storable(key.owner);
      const [user] = await query('SELECT name FROM users WHERE name = $1 FOR UPDATE', [owner]);
      if (!user) return 'no_user';
      const [counted] = await query('SELECT count(*) AS keys FROM api_keys WHERE owner = $1', [owner]);
      if (Number(counted?.keys) >= max) return 'too_many';
      await query(
        `INSERT INTO api_keys (id, owner, name, role, dialects, hash, created_at, expires_at, last_used_at,
           administration)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
        [
          storable(key.id),
          owner,
          storable(key.name),
          key.role,
          key.dialects?.map(storable) ?? null,
          key.hash,
          key.createdAt,
          key.expiresAt,
          key.lastUsedAt,
          key.administration,
        ],
      );
      return 'added';
    }),

  /** Increments `changes` in the same statement, which other nodes poll. */
  async remove(id: string, owner?: string): Promise<boolean> {
    const removed = await database.query(
      `WITH removed AS (DELETE FROM api_keys WHERE id = $1 AND ($2::text IS NULL OR owner = $2) RETURNING 1 AS one),
         changed AS (UPDATE cluster SET changes = changes + 1 WHERE EXISTS (SELECT 1 FROM removed))
       SELECT one FROM removed`,
      [storable(id), owner === undefined ? null : storable(owner)],
    );
    return removed.length > 0;
  },

  /** Locks in id order, so that two nodes cannot deadlock. */
  async used(times: ReadonlyMap<string, number>): Promise<void> {
    const entries = [...times].map(([id, at]) => ({ id: storable(id), at }));
    await database.query(
      `WITH locked AS MATERIALIZED (
         SELECT api_keys.id, given.at FROM unnest($1::text[], $2::bigint[]) AS given (id, at)
           JOIN api_keys ON api_keys.id = given.id
         ORDER BY api_keys.id FOR UPDATE OF api_keys
       )
       UPDATE api_keys SET last_used_at = locked.at FROM locked
       WHERE api_keys.id = locked.id AND coalesce(api_keys.last_used_at, 0) < locked.at`,
      [entries.map(({ id }) => id), entries.map(({ at }) => at)],
    );
  },
});
