import type { JsonObject } from '@parlance/protocol';
import type { StoredDocument } from '../../core/ports/settings.ts';
import { StoredValue } from '../shared/stored-value.ts';
import type { Statements } from './database.ts';

/** Increments `changes` in the same statement, which other nodes poll. */
const CHANGED = 'changed AS (UPDATE cluster SET changes = changes + 1 WHERE EXISTS (SELECT 1 FROM written))';

const INSERT = `
  WITH written AS (
    INSERT INTO settings (name, value, version) VALUES ($1, $2, 1) ON CONFLICT (name) DO NOTHING RETURNING version
  ), ${CHANGED}
  SELECT version FROM written`;

const UPDATE = `
  WITH written AS (
    UPDATE settings SET value = $2, version = version + 1 WHERE name = $1 AND version = $3 RETURNING version
  ), ${CHANGED}
  SELECT version FROM written`;

export const prepareSettings = (database: Statements) => ({
  async read(name: string): Promise<StoredDocument | null> {
    const [found] = await database.query('SELECT value, version FROM settings WHERE name = $1', [name]);
    if (!found) return null;
    return { value: StoredValue.parse(JSON.parse(String(found.value))), version: Number(found.version) };
  },
  async write(name: string, value: JsonObject, expected: number): Promise<boolean> {
    const text = JSON.stringify(value);
    const written =
      expected === 0
        ? await database.query(INSERT, [name, text])
        : await database.query(UPDATE, [name, text, expected]);
    return written.length > 0;
  },
});
