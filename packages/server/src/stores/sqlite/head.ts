import type { Database } from 'bun:sqlite';
import type { SessionRef } from '../../core/ports/event-store.ts';
import { storableRef } from '../shared/text.ts';

export function prepareHead(database: Database): (ref: SessionRef) => number {
  const find = database.prepare<{ head: number }, [string, string]>(
    'SELECT head FROM sessions WHERE owner = ? AND id = ?',
  );
  return (ref) => {
    const { owner, id } = storableRef(ref);
    return find.get(owner, id)?.head ?? 0;
  };
}
