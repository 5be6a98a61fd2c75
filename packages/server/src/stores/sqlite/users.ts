import type { Database } from 'bun:sqlite';
import { Role } from '@parlance/protocol';
import { z } from 'zod';
import type { StoredUser, User } from '../../core/ports/users.ts';
import { storable } from '../shared/text.ts';

const UserRow = z.object({
  name: z.string(),
  role: Role,
  passwordHash: z.string(),
  createdAt: z.number(),
  tokenVersion: z.string(),
});

const SELECT_USER =
  'SELECT name, role, password_hash AS passwordHash, created_at AS createdAt, token_version AS tokenVersion FROM users';

export function prepareUsers(database: Database) {
  const select = database.prepare<unknown, [string]>(`${SELECT_USER} WHERE name = ?`);
  const selectAll = database.prepare<unknown, []>(`${SELECT_USER} ORDER BY name`);
  const upsert = database.prepare(`
    INSERT INTO users (name, role, password_hash, created_at, token_version)
    VALUES ($name, $role, $passwordHash, $createdAt, lower(hex(randomblob(16))))
    ON CONFLICT (name) DO UPDATE SET role = excluded.role, password_hash = excluded.password_hash,
      created_at = excluded.created_at, token_version = excluded.token_version`);
  const remove = database.prepare<unknown, [string]>('DELETE FROM users WHERE name = ?');

  return {
    find(name: string): StoredUser | null {
      const found = select.get(storable(name));
      return found ? UserRow.parse(found) : null;
    },
    everyone: (): StoredUser[] => selectAll.all().map((found) => UserRow.parse(found)),
    put({ name, role, passwordHash, createdAt }: User): void {
      upsert.run({ name: storable(name), role, passwordHash, createdAt });
    },
    remove: (name: string): boolean => remove.run(storable(name)).changes > 0,
  };
}
