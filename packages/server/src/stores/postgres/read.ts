import type { DurableEvent } from '@parlance/protocol';
import { z } from 'zod';
import type { SessionRef } from '../../core/ports/event-store.ts';
import { rowLimit } from '../shared/limit.ts';
import { type EventOptions, readStored } from '../shared/stored-event.ts';
import { storableRef } from '../shared/text.ts';
import { bucketOf } from './bucket.ts';
import type { Statements } from './database.ts';

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
