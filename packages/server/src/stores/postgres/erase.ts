import type { SessionRef } from '../../core/ports/event-store.ts';
import { storableRef } from '../shared/text.ts';
import { bucketOf } from './bucket.ts';
import type { Database } from './database.ts';

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
      await query('DELETE FROM messages WHERE session = $1', [row]);
      await query('DELETE FROM turns WHERE session = $1', [row]);
      await query('DELETE FROM shares WHERE session = $1', [row]);
      await query('DELETE FROM checkpoints WHERE session = $1', [row]);
      await query('DELETE FROM lookups WHERE session = $1', [row]);
      await query('DELETE FROM sessions WHERE row = $1', [row]);
      return true;
    });
