import type { LookupKey, SessionRecord, SessionRef } from '../../core/ports/event-store.ts';
import { storableKey } from '../shared/lookup-keys.ts';
import { storable } from '../shared/text.ts';
import type { Statements } from './database.ts';
import { parseRecord, SELECT_RECORD } from './record.ts';

export const prepareLookup =
  (database: Statements) =>
  async (given: LookupKey, { owner, id }: Partial<SessionRef> = {}): Promise<SessionRecord | null> => {
    const { kind, id: key } = storableKey(given);
    const [found] = await database.query(
      `${SELECT_RECORD}
       WHERE row IN (SELECT session FROM lookups WHERE kind = $1 AND lookups.id = $2)
         AND ($3::text IS NULL OR owner = $3) AND ($4::text IS NULL OR sessions.id = $4)
       ORDER BY (approval IS NOT DISTINCT FROM $2) DESC, updated_at DESC, row DESC LIMIT 1`,
      [kind, key, storableOrNull(owner), storableOrNull(id)],
    );
    return found ? parseRecord(found).record : null;
  };

const storableOrNull = (text: string | undefined): string | null =>
  text === undefined ? null : storable(text);
