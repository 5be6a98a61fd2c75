import type { Database } from 'bun:sqlite';
import { Role } from '@parlance/protocol';
import { z } from 'zod';
import type { ApiKey } from '../../core/ports/api-keys.ts';
import { storable } from '../shared/text.ts';

const Dialects = z.array(z.string()).nullable();

const ApiKeyRow = z.object({
  id: z.string(),
  owner: z.string(),
  name: z.string(),
  role: Role,
  dialects: z
    .string()
    .nullable()
    .transform((text) => Dialects.parse(text === null ? null : JSON.parse(text))),
  administration: z.number().transform(Boolean),
  hash: z.string(),
  createdAt: z.number(),
  expiresAt: z.number().nullable(),
  lastUsedAt: z.number().nullable(),
});

const SELECT_KEY = `
  SELECT id, owner, name, role, dialects, administration, hash, created_at AS createdAt, expires_at AS expiresAt,
    last_used_at AS lastUsedAt
  FROM api_keys`;

export function prepareApiKeys(database: Database) {
  const select = database.prepare<unknown, [string]>(`${SELECT_KEY} WHERE id = ?`);
  const selectAll = database.prepare<unknown, []>(`${SELECT_KEY} ORDER BY created_at, id`);
  const selectOf = database.prepare<unknown, [string]>(
    `${SELECT_KEY} WHERE owner = ? ORDER BY created_at, id`,
  );
  const hasUser = database.prepare<unknown, [string]>('SELECT 1 FROM users WHERE name = ?');
  const count = database.prepare<{ keys: number }, [string]>(
    'SELECT count(*) AS keys FROM api_keys WHERE owner = ?',
  );
  const insert = database.prepare(`
    INSERT INTO api_keys (id, owner, name, role, dialects, administration, hash, created_at, expires_at, last_used_at)
    VALUES ($id, $owner, $name, $role, $dialects, $administration, $hash, $createdAt, $expiresAt, $lastUsedAt)`);
  const remove = database.prepare<unknown, [string]>('DELETE FROM api_keys WHERE id = ?');
  const removeOf = database.prepare<unknown, [string, string]>(
    'DELETE FROM api_keys WHERE id = ? AND owner = ?',
  );
  const touch = database.prepare<unknown, [number, string, number]>(
    'UPDATE api_keys SET last_used_at = ? WHERE id = ? AND coalesce(last_used_at, 0) < ?',
  );

  // IMMEDIATE: another process must not add between the count and the insert.
  const add = database.transaction((key: ApiKey, max: number) => {
    const owner = storable(key.owner);
    if (hasUser.get(owner) === null) return 'no_user';
    if ((count.get(owner)?.keys ?? 0) >= max) return 'too_many';
    const dialects = key.dialects && JSON.stringify(key.dialects.map(storable));
    insert.run({ ...key, id: storable(key.id), owner, name: storable(key.name), dialects });
    return 'added';
  }).immediate;
  const used = database.transaction((times: ReadonlyMap<string, number>) => {
    for (const [id, at] of times) touch.run(at, storable(id), at);
  }).immediate;

  return {
    find(id: string): ApiKey | null {
      const found = select.get(storable(id));
      return found ? ApiKeyRow.parse(found) : null;
    },
    list: (owner?: string): ApiKey[] =>
      (owner === undefined ? selectAll.all() : selectOf.all(storable(owner))).map((found) =>
        ApiKeyRow.parse(found),
      ),
    add: (key: ApiKey, max: number): 'added' | 'too_many' | 'no_user' => add(key, max),
    remove: (id: string, owner?: string): boolean =>
      (owner === undefined ? remove.run(storable(id)) : removeOf.run(storable(id), storable(owner))).changes >
      0,
    used: (times: ReadonlyMap<string, number>): void => used(times),
  };
}
