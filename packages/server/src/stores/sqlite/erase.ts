import type { Database } from 'bun:sqlite';
import type { SessionRef } from '../../core/ports/event-store.ts';
import { storableRef } from '../shared/text.ts';

export function prepareErase(database: Database): (ref: SessionRef) => boolean {
  const find = database.prepare<{ row: number }, [string, string]>(
    'SELECT row FROM sessions WHERE owner = ? AND id = ?',
  );
  const steps = [
    'message_words WHERE rowid IN (SELECT id FROM messages WHERE session = ?)',
    'messages WHERE session = ?',
    'turns WHERE session = ?',
    'shares WHERE session = ?',
    'events WHERE session = ?',
    'checkpoints WHERE session = ?',
    'lookups WHERE session = ?',
    'sessions WHERE row = ?',
  ].map((rows) => database.prepare(`DELETE FROM ${rows}`));
  return database.transaction((ref: SessionRef): boolean => {
    const { owner, id } = storableRef(ref);
    const found = find.get(owner, id);
    if (!found) return false;
    for (const step of steps) step.run(found.row);
    return true;
  });
}
