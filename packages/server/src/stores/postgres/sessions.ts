/** Sessions and their events: read and erased. `append.ts` writes them. */
import type { DurableEvent } from '@parlance/protocol';
import { z } from 'zod';
import type { SessionRef } from '../../core/ports/event-store.ts';
import { rowLimit } from '../shared/paging.ts';
import { type EventOptions, readStored } from '../shared/stored-event.ts';
import { storableRef } from '../shared/text.ts';
import type { Database, Statements } from './database.ts';

/**
 * The bucket of an owner. It is part of every key, so that a database can be split by buckets without
 * rewriting keys. Must never change: CRC-32 is the same everywhere.
 */
const BUCKETS = 4096;

/** `owner` in its stored form. */
export const bucketOf = (owner: string): number => Bun.hash.crc32(owner) % BUCKETS;

const StoredRow = z.object({ seq: z.coerce.number(), version: z.number(), body: z.string() });

export const prepareRead =
  (database: Statements, options: EventOptions = {}) =>
  async (ref: SessionRef, after: number, limit: number): Promise<DurableEvent[]> => {
    const { owner, id } = storableRef(ref);
    const rows = await database.query(
      `SELECT seq, version, body FROM events
       WHERE bucket = $1 AND seq > $4
         AND session = (SELECT row FROM sessions WHERE bucket = $1 AND owner = $2 AND id = $3)
       ORDER BY seq LIMIT $5`,
      [bucketOf(owner), owner, id, after, rowLimit(limit)],
    );
    return rows.map((row) => readStored(ref, StoredRow.parse(row), options));
  };

export const prepareHeads =
  (database: Statements) =>
  async (refs: readonly SessionRef[]): Promise<number[]> => {
    const stored = refs.map(storableRef);
    const rows = await database.query(
      `SELECT asked.place, sessions.head
       FROM jsonb_to_recordset($1::text::jsonb) AS asked(place int, bucket smallint, owner text, id text)
       JOIN sessions USING (bucket, owner, id)`,
      [JSON.stringify(stored.map(({ owner, id }, place) => ({ place, bucket: bucketOf(owner), owner, id })))],
    );
    const heads = refs.map(() => 0);
    for (const row of rows) heads[Number(row.place)] = Number(row.head);
    return heads;
  };

/**
 * Locks the row in a separate statement: the deletions then see all earlier appends, and no later ones can
 * happen.
 */
export const prepareErase =
  (database: Database) =>
  (ref: SessionRef): Promise<boolean> =>
    database.transaction(async ({ query }) => {
      const { owner, id } = storableRef(ref);
      const bucket = bucketOf(owner);
      const [found] = await query(
        'SELECT row FROM sessions WHERE bucket = $1 AND owner = $2 AND id = $3 FOR UPDATE',
        [bucket, owner, id],
      );
      if (!found) return false;
      const { row } = found;
      await query('DELETE FROM events WHERE bucket = $1 AND session = $2', [bucket, row]);
      for (const table of ['messages', 'turns', 'shares', 'webhooks', 'checkpoints', 'lookups'])
        await query(`DELETE FROM ${table} WHERE session = $1`, [row]);
      await query('DELETE FROM sessions WHERE row = $1', [row]);
      return true;
    });
