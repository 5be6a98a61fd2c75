import type { SessionRef } from '../../core/ports/event-store.ts';
import { storableRef } from '../shared/text.ts';
import { bucketOf } from './bucket.ts';
import type { Statements } from './database.ts';

export const prepareTouch =
  (database: Statements) =>
  async (ref: SessionRef, at: number): Promise<void> => {
    const { owner, id } = storableRef(ref);
    await database.query(
      `UPDATE sessions SET updated_at = $4
       WHERE bucket = $1 AND owner = $2 AND id = $3 AND updated_at < $4`,
      [bucketOf(owner), owner, id, at],
    );
  };
