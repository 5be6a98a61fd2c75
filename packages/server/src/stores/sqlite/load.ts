import type { Database } from 'bun:sqlite';
import type { SessionRecord, SessionRef } from '../../core/ports/event-store.ts';
import { storable } from '../shared/text.ts';
import { parseRecord, SELECT_RECORD } from './record.ts';

export function prepareLoad(database: Database): (ref: SessionRef) => SessionRecord | null {
  const select = database.prepare<unknown, [string, string]>(`${SELECT_RECORD} WHERE owner = ? AND id = ?`);

  return (ref) => {
    const found = select.get(storable(ref.owner), storable(ref.id));
    return found ? parseRecord(found).record : null;
  };
}
