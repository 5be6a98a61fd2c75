import type { Database } from 'bun:sqlite';
import type { JsonObject, PrincipalId } from '@parlance/protocol';
import { StoredValue } from '../shared/stored-value.ts';
import { storable } from '../shared/text.ts';

export function preparePreferences(database: Database) {
  const select = database.prepare<{ value: string }, [string]>(
    'SELECT value FROM preferences WHERE owner = ?',
  );
  const upsert = database.prepare<unknown, [string, string]>(
    'INSERT INTO preferences (owner, value) VALUES (?, ?) ON CONFLICT (owner) DO UPDATE SET value = excluded.value',
  );

  return {
    get(owner: PrincipalId): JsonObject | null {
      const found = select.get(storable(owner));
      return found ? StoredValue.parse(JSON.parse(found.value)) : null;
    },
    put(owner: PrincipalId, value: JsonObject): void {
      upsert.run(storable(owner), JSON.stringify(value));
    },
  };
}
