import { Role } from '@parlance/protocol';
import { z } from 'zod';
import type { Pairing, PairingRequest } from '../../core/ports/pairings.ts';
import { storable } from '../shared/text.ts';
import type { Database } from './database.ts';

const EXTENSION = {
  id: z.string(),
  hash: z.string(),
  origin: z.string(),
  name: z.string(),
  createdAt: z.coerce.number(),
};
const RequestRow = z.object({ ...EXTENSION, code: z.string(), expiresAt: z.coerce.number() });
const PairingRow = z.object({
  ...EXTENSION,
  owner: z.string().nullable(),
  role: Role,
  key: z.string().nullable(),
  allowedAt: z.coerce.number(),
  expiresAt: z.coerce.number().nullable(),
  lastUsedAt: z.coerce.number().nullable(),
});

const REQUEST = 'id, hash, origin, name, created_at AS "createdAt", code, expires_at AS "expiresAt"';
const SELECT_REQUEST = `SELECT ${REQUEST} FROM pairing_requests`;
const SELECT_PAIRING = `
  SELECT id, hash, origin, name, created_at AS "createdAt", owner, role, key, allowed_at AS "allowedAt",
    expires_at AS "expiresAt", last_used_at AS "lastUsedAt"
  FROM pairings`;

const requestIn = ([row]: readonly unknown[]): PairingRequest | null => (row ? RequestRow.parse(row) : null);
const named = (owner: string | null): string | null => (owner === null ? null : storable(owner));

export const preparePairings = (database: Database) => ({
  /** Concurrent requests may slightly exceed `most`. */
  async request(given: PairingRequest, max: number): Promise<boolean> {
    const { id, hash, origin, name, createdAt, code, expiresAt } = given;
    await database.query('DELETE FROM pairing_requests WHERE expires_at <= $1', [createdAt]);
    const added = await database.query(
      `INSERT INTO pairing_requests (id, hash, origin, name, created_at, code, expires_at)
       SELECT $1::text, $2::text, $3::text, $4::text, $5::bigint, $6::text, $7::bigint
       WHERE (SELECT count(*) FROM pairing_requests) < $8
       ON CONFLICT (code) DO NOTHING RETURNING 1 AS one`,
      [id, hash, storable(origin), storable(name), createdAt, code, expiresAt, max],
    );
    return added.length > 0;
  },

  async requests(): Promise<PairingRequest[]> {
    const rows = await database.query(`${SELECT_REQUEST} ORDER BY created_at, id`);
    return rows.map((row) => RequestRow.parse(row));
  },

  async findRequest(id: string): Promise<PairingRequest | null> {
    return requestIn(await database.query(`${SELECT_REQUEST} WHERE id = $1`, [storable(id)]));
  },

  async requestWith(code: string): Promise<PairingRequest | null> {
    return requestIn(await database.query(`${SELECT_REQUEST} WHERE code = $1`, [storable(code)]));
  },

  async takeRequest(id: string): Promise<PairingRequest | null> {
    return requestIn(
      await database.query(`DELETE FROM pairing_requests WHERE id = $1 RETURNING ${REQUEST}`, [storable(id)]),
    );
  },

  async find(id: string): Promise<Pairing | null> {
    const [row] = await database.query(`${SELECT_PAIRING} WHERE id = $1`, [storable(id)]);
    return row ? PairingRow.parse(row) : null;
  },

  async list(owner?: string | null): Promise<Pairing[]> {
    const rows =
      owner === undefined
        ? await database.query(`${SELECT_PAIRING} ORDER BY allowed_at, id`)
        : await database.query(
            `${SELECT_PAIRING} WHERE owner IS NOT DISTINCT FROM $1::text ORDER BY allowed_at, id`,
            [named(owner)],
          );
    return rows.map((row) => PairingRow.parse(row));
  },

  /** Locks user and key, so that a concurrent removal comes either before, or after and removes the pairing. */
  async add(pairing: Pairing): Promise<boolean> {
    const { id, hash, origin, name, createdAt, owner, role, key, allowedAt, expiresAt, lastUsedAt } = pairing;
    const added = await database.query(
      `WITH person AS MATERIALIZED (SELECT 1 FROM users WHERE name = $6 FOR KEY SHARE),
         approver AS MATERIALIZED (SELECT 1 FROM api_keys WHERE id = $10 FOR KEY SHARE)
       INSERT INTO pairings (id, hash, origin, name, created_at, owner, role, allowed_at, last_used_at, key,
         expires_at)
       SELECT $1::text, $2::text, $3::text, $4::text, $5::bigint, $6::text, $7::text, $8::bigint, $9::bigint,
         $10::text, $11::bigint
       WHERE ($6::text IS NULL OR EXISTS (SELECT 1 FROM person))
         AND ($10::text IS NULL OR EXISTS (SELECT 1 FROM approver))
       RETURNING 1 AS one`,
      [
        storable(id),
        hash,
        storable(origin),
        storable(name),
        createdAt,
        named(owner),
        role,
        allowedAt,
        lastUsedAt,
        named(key),
        expiresAt,
      ],
    );
    return added.length > 0;
  },

  async hasOrigin(origin: string): Promise<boolean> {
    const rows = await database.query('SELECT 1 AS one FROM pairings WHERE origin = $1 LIMIT 1', [
      storable(origin),
    ]);
    return rows.length > 0;
  },

  /** Increments `changes` in the same statement, which other nodes poll. */
  async remove(id: string, owner?: string | null): Promise<boolean> {
    const isOwn = owner === undefined ? '$2::text IS NULL' : 'owner IS NOT DISTINCT FROM $2::text';
    const removed = await database.query(
      `WITH removed AS (DELETE FROM pairings WHERE id = $1 AND ${isOwn} RETURNING 1 AS one),
         changed AS (UPDATE cluster SET changes = changes + 1 WHERE EXISTS (SELECT 1 FROM removed))
       SELECT one FROM removed`,
      [storable(id), owner === undefined ? null : named(owner)],
    );
    return removed.length > 0;
  },

  /** Locks in id order, so that two nodes cannot deadlock. */
  async used(times: ReadonlyMap<string, number>): Promise<void> {
    const entries = [...times].map(([id, at]) => ({ id: storable(id), at }));
    await database.query(
      `WITH locked AS MATERIALIZED (
         SELECT pairings.id, given.at FROM unnest($1::text[], $2::bigint[]) AS given (id, at)
           JOIN pairings ON pairings.id = given.id
         ORDER BY pairings.id FOR UPDATE OF pairings
       )
       UPDATE pairings SET last_used_at = locked.at FROM locked
       WHERE pairings.id = locked.id AND coalesce(pairings.last_used_at, 0) < locked.at`,
      [entries.map(({ id }) => id), entries.map(({ at }) => at)],
    );
  },
});
