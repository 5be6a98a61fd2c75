import type { JsonObject, PrincipalId } from '@parlance/protocol';
import { StoredValue } from '../shared/stored-value.ts';
import { storable } from '../shared/text.ts';
import type { Statements } from './database.ts';

export const preparePreferences = (database: Statements) => ({
  async get(owner: PrincipalId): Promise<JsonObject | null> {
    const [found] = await database.query('SELECT value FROM preferences WHERE owner = $1', [storable(owner)]);
    return found ? StoredValue.parse(JSON.parse(String(found.value))) : null;
  },
  async put(owner: PrincipalId, value: JsonObject): Promise<void> {
    await database.query(
      'INSERT INTO preferences (owner, value) VALUES ($1, $2) ON CONFLICT (owner) DO UPDATE SET value = excluded.value',
      [storable(owner), JSON.stringify(value)],
    );
  },
});
