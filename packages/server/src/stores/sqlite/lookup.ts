import type { Database } from 'bun:sqlite';
import type { LookupKey, SessionRecord, SessionRef } from '../../core/ports/event-store.ts';
import { storableKey } from '../shared/lookup-keys.ts';
import { storable } from '../shared/text.ts';
import { parseRecord, SELECT_RECORD } from './record.ts';

type Values = { kind: string; key: string; owner: string | null; id: string | null };

export function prepareLookup(
  database: Database,
): (key: LookupKey, within?: Partial<SessionRef>) => SessionRecord | null {
  const select = database.prepare<unknown, [Values]>(`
    ${SELECT_RECORD}
    WHERE row IN (SELECT session FROM lookups WHERE kind = $kind AND lookups.id = $key)
      AND ($owner IS NULL OR owner = $owner) AND ($id IS NULL OR id = $id)
    ORDER BY approval IS $key DESC, updated_at DESC, row DESC LIMIT 1`);

  return (given, { owner, id } = {}) => {
    const { kind, id: key } = storableKey(given);
    const found = select.get({ kind, key, owner: storableOrNull(owner), id: storableOrNull(id) });
    return found ? parseRecord(found).record : null;
  };
}

const storableOrNull = (text: string | undefined): string | null =>
  text === undefined ? null : storable(text);
