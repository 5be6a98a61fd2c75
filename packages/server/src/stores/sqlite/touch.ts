import type { Database } from 'bun:sqlite';
import type { SessionRef } from '../../core/ports/event-store.ts';
import { storableRef } from '../shared/text.ts';

export function prepareTouch(database: Database): (ref: SessionRef, at: number) => void {
  const touch = database.prepare(
    'UPDATE sessions SET updated_at = ?3 WHERE owner = ?1 AND id = ?2 AND updated_at < ?3',
  );
  return (ref, at) => {
    const { owner, id } = storableRef(ref);
    touch.run(owner, id, at);
  };
}
