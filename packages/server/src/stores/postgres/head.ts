import type { SessionRef } from '../../core/ports/event-store.ts';
import { storableRef } from '../shared/text.ts';
import { bucketOf } from './bucket.ts';
import type { Statements } from './database.ts';

export const prepareHead =
  (database: Statements) =>
  async (ref: SessionRef): Promise<number> => {
    const { owner, id } = storableRef(ref);
    const [found] = await database.query(
      'SELECT head FROM sessions WHERE bucket = $1 AND owner = $2 AND id = $3',
      [bucketOf(owner), owner, id],
    );
    return Number(found?.head ?? 0);
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
