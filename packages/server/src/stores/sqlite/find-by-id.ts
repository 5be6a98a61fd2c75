import type { Database } from 'bun:sqlite';
import type { SessionId } from '@parlance/protocol';
import type { SessionRecord } from '../../core/ports/event-store.ts';
import { storable } from '../shared/text.ts';
import { parseRecord, SELECT_RECORD } from './record.ts';

export function prepareFindById(database: Database): (id: SessionId) => SessionRecord[] {
  const select = database.prepare<unknown, [string]>(
    `${SELECT_RECORD} WHERE id = ? ORDER BY updated_at DESC, row DESC`,
  );

  return (id) => select.all(storable(id)).map((found) => parseRecord(found).record);
}
