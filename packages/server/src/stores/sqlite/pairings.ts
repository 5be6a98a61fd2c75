import type { Database } from 'bun:sqlite';
import { Role } from '@parlance/protocol';
import { z } from 'zod';
import type { Pairing, PairingRequest } from '../../core/ports/pairings.ts';
import { storable } from '../shared/text.ts';

const EXTENSION = {
  id: z.string(),
  hash: z.string(),
  origin: z.string(),
  name: z.string(),
  createdAt: z.number(),
};
const RequestRow = z.object({ ...EXTENSION, code: z.string(), expiresAt: z.number() });
const PairingRow = z.object({
  ...EXTENSION,
  owner: z.string().nullable(),
  role: Role,
  key: z.string().nullable(),
  allowedAt: z.number(),
  expiresAt: z.number().nullable(),
  lastUsedAt: z.number().nullable(),
});

const REQUEST = 'id, hash, origin, name, created_at AS createdAt, code, expires_at AS expiresAt';
const SELECT_REQUEST = `SELECT ${REQUEST} FROM pairing_requests`;
const SELECT_PAIRING = `
  SELECT id, hash, origin, name, created_at AS createdAt, owner, role, key, allowed_at AS allowedAt,
    expires_at AS expiresAt, last_used_at AS lastUsedAt
  FROM pairings`;

const requestIn = (row: unknown): PairingRequest | null => (row ? RequestRow.parse(row) : null);

export function preparePairings(database: Database) {
  const expire = database.prepare<unknown, [number]>('DELETE FROM pairing_requests WHERE expires_at <= ?');
  const count = database.prepare<{ requests: number }, []>(
    'SELECT count(*) AS requests FROM pairing_requests',
  );
  const insertRequest = database.prepare(`
    INSERT INTO pairing_requests (id, hash, origin, name, created_at, code, expires_at)
    VALUES ($id, $hash, $origin, $name, $createdAt, $code, $expiresAt) ON CONFLICT (code) DO NOTHING`);
  const selectRequests = database.prepare<unknown, []>(`${SELECT_REQUEST} ORDER BY created_at, id`);
  const selectRequest = database.prepare<unknown, [string]>(`${SELECT_REQUEST} WHERE id = ?`);
  const selectCode = database.prepare<unknown, [string]>(`${SELECT_REQUEST} WHERE code = ?`);
  const take = database.prepare<unknown, [string]>(
    `DELETE FROM pairing_requests WHERE id = ? RETURNING ${REQUEST}`,
  );
  const select = database.prepare<unknown, [string]>(`${SELECT_PAIRING} WHERE id = ?`);
  const selectAll = database.prepare<unknown, []>(`${SELECT_PAIRING} ORDER BY allowed_at, id`);
  const selectOf = database.prepare<unknown, [string | null]>(
    `${SELECT_PAIRING} WHERE owner IS ? ORDER BY allowed_at, id`,
  );
  const hasUser = database.prepare<unknown, [string]>('SELECT 1 FROM users WHERE name = ?');
  const hasKey = database.prepare<unknown, [string]>('SELECT 1 FROM api_keys WHERE id = ?');
  const insert = database.prepare(`
    INSERT INTO pairings (id, hash, origin, name, created_at, owner, role, key, allowed_at, expires_at, last_used_at)
    VALUES ($id, $hash, $origin, $name, $createdAt, $owner, $role, $key, $allowedAt, $expiresAt, $lastUsedAt)`);
  const withOrigin = database.prepare<unknown, [string]>('SELECT 1 FROM pairings WHERE origin = ? LIMIT 1');
  const remove = database.prepare<unknown, [string]>('DELETE FROM pairings WHERE id = ?');
  const removeOf = database.prepare<unknown, [string, string | null]>(
    'DELETE FROM pairings WHERE id = ? AND owner IS ?',
  );
  const touch = database.prepare<unknown, [number, string, number]>(
    'UPDATE pairings SET last_used_at = ? WHERE id = ? AND coalesce(last_used_at, 0) < ?',
  );

  // IMMEDIATE: another process must not add between the count and the insert.
  const request = database.transaction((given: PairingRequest, max: number): boolean => {
    expire.run(given.createdAt);
    if ((count.get()?.requests ?? 0) >= max) return false;
    return (
      insertRequest.run({ ...given, name: storable(given.name), origin: storable(given.origin) }).changes > 0
    );
  });
  const add = database.transaction((pairing: Pairing): boolean => {
    const owner = pairing.owner === null ? null : storable(pairing.owner);
    if (owner !== null && hasUser.get(owner) === null) return false;
    const key = pairing.key === null ? null : storable(pairing.key);
    if (key !== null && hasKey.get(key) === null) return false;
    insert.run({ ...pairing, owner, key, name: storable(pairing.name), origin: storable(pairing.origin) });
    return true;
  });
  const used = database.transaction((times: ReadonlyMap<string, number>) => {
    for (const [id, at] of times) touch.run(at, storable(id), at);
  });

  return {
    request: (given: PairingRequest, max: number): boolean => request.immediate(given, max),
    requests: (): PairingRequest[] => selectRequests.all().map((row) => RequestRow.parse(row)),
    findRequest: (id: string): PairingRequest | null => requestIn(selectRequest.get(storable(id))),
    requestWith: (code: string): PairingRequest | null => requestIn(selectCode.get(storable(code))),
    takeRequest: (id: string): PairingRequest | null => requestIn(take.get(storable(id))),
    find(id: string): Pairing | null {
      const row = select.get(storable(id));
      return row ? PairingRow.parse(row) : null;
    },
    list(owner?: string | null): Pairing[] {
      const rows =
        owner === undefined ? selectAll.all() : selectOf.all(owner === null ? null : storable(owner));
      return rows.map((row) => PairingRow.parse(row));
    },
    add: (pairing: Pairing): boolean => add.immediate(pairing),
    hasOrigin: (origin: string): boolean => withOrigin.get(storable(origin)) !== null,
    remove(id: string, owner?: string | null): boolean {
      if (owner === undefined) return remove.run(storable(id)).changes > 0;
      return removeOf.run(storable(id), owner === null ? null : storable(owner)).changes > 0;
    },
    used: (times: ReadonlyMap<string, number>): void => used.immediate(times),
  };
}
