import type { Database } from 'bun:sqlite';
import { KEPT_AFTER_EXPIRY_MS, type Revocation } from '../../core/ports/revocations.ts';
import { storable } from '../shared/text.ts';

export function prepareRevocations(database: Database) {
  const insert = database.prepare<unknown, [string, number]>(
    'INSERT INTO revocations (id, until) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET until = max(until, excluded.until)',
  );
  const prune = database.prepare<unknown, [number]>('DELETE FROM revocations WHERE until < ?');
  const select = database.prepare<unknown, [string]>('SELECT 1 FROM revocations WHERE id = ?');
  const current = database.prepare<Revocation, [number]>(
    'SELECT id, until FROM revocations WHERE until >= ?',
  );
  const keep = database.transaction((id: string, until: number) => {
    prune.run(Date.now() - KEPT_AFTER_EXPIRY_MS);
    insert.run(id, until);
  });

  return {
    add: (id: string, until: number): void => keep(storable(id), until),
    list: (): Revocation[] => current.all(Date.now()),
    has: (id: string): boolean => select.get(storable(id)) !== null,
  };
}
