import { Role } from '@parlance/protocol';
import { z } from 'zod';
import type { StoredUser, User } from '../../core/ports/users.ts';
import { storable } from '../shared/text.ts';
import type { Statements } from './database.ts';

const UserRow = z.object({
  name: z.string(),
  role: Role,
  passwordHash: z.string(),
  createdAt: z.coerce.number(),
  tokenVersion: z.string(),
});

const SELECT_USER =
  'SELECT name, role, password_hash AS "passwordHash", created_at AS "createdAt", token_version AS "tokenVersion" FROM users';

/** Each write increments `changes` in the same statement, which other nodes poll. */
const CHANGED = 'UPDATE cluster SET changes = changes + 1';

export const prepareUsers = (database: Statements) => ({
  async find(name: string): Promise<StoredUser | null> {
    const [found] = await database.query(`${SELECT_USER} WHERE name = $1`, [storable(name)]);
    return found ? UserRow.parse(found) : null;
  },
  async everyone(): Promise<StoredUser[]> {
    return (await database.query(`${SELECT_USER} ORDER BY name`)).map((found) => UserRow.parse(found));
  },
  async put({ name, role, passwordHash, createdAt }: User): Promise<void> {
    await database.query(
      `WITH changed AS (${CHANGED})
       INSERT INTO users (name, role, password_hash, created_at, token_version) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (name) DO UPDATE SET role = excluded.role, password_hash = excluded.password_hash,
         created_at = excluded.created_at, token_version = excluded.token_version`,
      [storable(name), role, storable(passwordHash), createdAt, crypto.randomUUID()],
    );
  },
  async remove(name: string): Promise<boolean> {
    const removed = await database.query(
      `WITH removed AS (DELETE FROM users WHERE name = $1 RETURNING 1 AS one),
         changed AS (${CHANGED} WHERE EXISTS (SELECT 1 FROM removed))
       SELECT one FROM removed`,
      [storable(name)],
    );
    return removed.length > 0;
  },
});
