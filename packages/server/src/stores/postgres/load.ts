import type { SessionRecord, SessionRef } from '../../core/ports/event-store.ts';
import { storableRef } from '../shared/text.ts';
import { bucketOf } from './bucket.ts';
import type { Statements } from './database.ts';
import { parseRecord, SELECT_RECORD } from './record.ts';

export const prepareLoad =
  (database: Statements) =>
  async (ref: SessionRef): Promise<SessionRecord | null> => {
    const { owner, id } = storableRef(ref);
    const [found] = await database.query(`${SELECT_RECORD} WHERE bucket = $1 AND owner = $2 AND id = $3`, [
      bucketOf(owner),
      owner,
      id,
    ]);
    return found ? parseRecord(found).record : null;
  };
