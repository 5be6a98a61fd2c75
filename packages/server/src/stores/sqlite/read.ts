import type { Database } from 'bun:sqlite';
import type { DurableEvent } from '@parlance/protocol';
import type { SessionRef } from '../../core/ports/event-store.ts';
import { rowLimit } from '../shared/limit.ts';
import { type EventOptions, readStored, type StoredRow } from '../shared/stored-event.ts';
import { storable } from '../shared/text.ts';

export function prepareRead(
  database: Database,
  options: EventOptions = {},
): (ref: SessionRef, after: number, limit: number) => DurableEvent[] {
  const select = database.prepare<StoredRow, [string, string, number, number]>(`
    SELECT seq, version, body FROM events
    WHERE session = (SELECT row FROM sessions WHERE owner = ? AND id = ?) AND seq > ?
    ORDER BY seq LIMIT ?`);

  return (ref, after, limit) =>
    select
      .all(storable(ref.owner), storable(ref.id), after, rowLimit(limit))
      .map((row) => readStored(ref, row, options));
}
