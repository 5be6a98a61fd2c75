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
