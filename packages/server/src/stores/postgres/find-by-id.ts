import type { SessionId } from '@parlance/protocol';
import type { SessionRecord } from '../../core/ports/event-store.ts';
import { storable } from '../shared/text.ts';
import type { Statements } from './database.ts';
import { parseRecord, SELECT_RECORD } from './record.ts';

export const prepareFindById =
  (database: Statements) =>
  async (id: SessionId): Promise<SessionRecord[]> => {
    const found = await database.query(`${SELECT_RECORD} WHERE id = $1 ORDER BY updated_at DESC, row DESC`, [
      storable(id),
    ]);
    return found.map((row) => parseRecord(row).record);
  };
