import type { Database } from 'bun:sqlite';
import type { JsonObject } from '@parlance/protocol';
import type { StoredDocument } from '../../core/ports/settings.ts';
import { StoredValue } from '../shared/stored-value.ts';

type Row = { readonly value: string; readonly version: number };

export function prepareSettings(database: Database) {
  const select = database.prepare<Row, [string]>('SELECT value, version FROM settings WHERE name = ?');
  const insert = database.prepare<unknown, [string, string]>(
    'INSERT INTO settings (name, value, version) VALUES (?, ?, 1) ON CONFLICT (name) DO NOTHING',
  );
  const update = database.prepare<unknown, [string, string, number]>(
    'UPDATE settings SET value = ?2, version = version + 1 WHERE name = ?1 AND version = ?3',
  );

  return {
    read(name: string): StoredDocument | null {
      const found = select.get(name);
      return found && { value: StoredValue.parse(JSON.parse(found.value)), version: found.version };
    },
    write(name: string, value: JsonObject, expected: number): boolean {
      const text = JSON.stringify(value);
      const { changes } = expected === 0 ? insert.run(name, text) : update.run(name, text, expected);
      return changes > 0;
    },
  };
}
