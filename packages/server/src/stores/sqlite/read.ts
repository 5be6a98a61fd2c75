import type { Database } from 'bun:sqlite';
import type { Fact } from '@parlance/protocol';
import type { SessionRef } from '../../core/ports/store.ts';
import { rowLimit } from '../rules/limit.ts';
import { type EventOptions, readStored, type StoredRow } from '../rules/stored-event.ts';
import { storable } from '../rules/text.ts';

export function prepareRead(
  database: Database,
  options: EventOptions = {},
): (ref: SessionRef, after: number, limit: number) => Fact[] {
  const select = database.prepare<StoredRow, [string, string, number, number]>(`
    SELECT seq, version, body FROM events
    WHERE session = (SELECT row FROM sessions WHERE owner = ? AND id = ?) AND seq > ?
    ORDER BY seq LIMIT ?`);

  return (ref, after, limit) =>
    select
      .all(storable(ref.owner), storable(ref.id), after, rowLimit(limit))
      .map((row) => readStored(ref, row, options));
}
