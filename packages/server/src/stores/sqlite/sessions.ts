/** Sessions and their events: appended, read and erased. */
import type { Database } from 'bun:sqlite';
import { type DurableEvent, writtenVersion } from '@parlance/protocol';
import {
  AppendConflict,
  type LookupKey,
  type SessionRecord,
  type SessionRef,
} from '../../core/ports/event-store.ts';
import { rowLimit } from '../shared/paging.ts';
import { RECORD_COLUMNS, recordValues } from '../shared/sessions.ts';
import {
  checkNumbering,
  type EventOptions,
  lookupKeysOf,
  readStored,
  type StoredRow,
} from '../shared/stored-event.ts';
import { storable, storableRef } from '../shared/text.ts';
import { ADD_USAGE, USAGE_COUNTS, USAGE_LABELS, usageRows } from '../shared/usage.ts';

/** A pending append, serialized when it was requested. */
export type Append = {
  readonly expected: number;
  /** the events and their JSON, in order */
  readonly events: readonly { readonly event: DurableEvent; readonly body: string }[];
  readonly keys: readonly LookupKey[];
  readonly record: SessionRecord;
};

/** Throws if it can never be written. */
export function makeAppend(expected: number, events: readonly DurableEvent[], record: SessionRecord): Append {
  checkNumbering(expected, events, record);
  const written = events.map((event) => ({ event, body: JSON.stringify(event) }));
  return { expected, events: written, keys: lookupKeysOf(events), record };
}

/** Call inside a transaction. Throws `AppendConflict` before writing anything. */
export function prepareAppend(database: Database, { upcasts }: EventOptions = {}): (append: Append) => void {
  const find = database.prepare<{ row: number; head: number }, [string, string]>(
    'SELECT row, head FROM sessions WHERE owner = ? AND id = ?',
  );
  const insertSession = database.prepare(`
    INSERT INTO sessions (owner, id, ${RECORD_COLUMNS.join(', ')})
    VALUES ($owner, $id, ${RECORD_COLUMNS.map((column) => `$${column}`).join(', ')})`);
  const updateSession = database.prepare(`
    UPDATE sessions SET ${RECORD_COLUMNS.map((column) => `${column} = $${column}`).join(', ')}
    WHERE owner = $owner AND id = $id`);
  const insertEvent = database.prepare(
    'INSERT INTO events (session, seq, version, body) VALUES (?, ?, ?, ?)',
  );
  const insertKey = database.prepare('INSERT OR IGNORE INTO lookups (kind, id, session) VALUES (?, ?, ?)');
  const keepCheckpoint = prepareCheckpoint(database);
  const columns = [...USAGE_LABELS, ...USAGE_COUNTS];
  const insertUsage = database.prepare(
    `INSERT INTO usage (${columns.join(', ')}) VALUES (${columns.map((column) => `$${column}`).join(', ')}) ${ADD_USAGE}`,
  );

  return ({ expected, events, keys, record }) => {
    const ref = storableRef(record.ref);
    const found = find.get(ref.owner, ref.id);
    const actual = found?.head ?? 0;
    if (actual !== expected) throw new AppendConflict(record.ref, expected, actual);

    const { tags, labels, ...values } = recordValues(record);
    const written = (found ? updateSession : insertSession).run({
      ...ref,
      ...values,
      tags: JSON.stringify(tags),
      labels: JSON.stringify(labels),
    });
    const row = found?.row ?? Number(written.lastInsertRowid);
    events.forEach(({ event, body }, index) => {
      insertEvent.run(row, expected + 1 + index, writtenVersion(event, upcasts), body);
    });
    for (const { kind, id } of keys) insertKey.run(kind, id, row);
    keepCheckpoint(row, record.checkpoint);
    for (const used of usageRows(record.usage ?? [])) insertUsage.run(used);
  };
}

function prepareCheckpoint(database: Database) {
  const put = database.prepare(`
    INSERT INTO checkpoints (session, version, seq, state) VALUES ($session, $version, $seq, $state)
    ON CONFLICT (session) DO UPDATE SET version = $version, seq = $seq, state = $state
    WHERE seq <> $seq OR version <> $version OR state <> $state`);
  const remove = database.prepare('DELETE FROM checkpoints WHERE session = ?');

  return (session: number, checkpoint: SessionRecord['checkpoint']): void => {
    if (!checkpoint) remove.run(session);
    else put.run({ session, ...checkpoint, state: storable(checkpoint.state) });
  };
}

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

export function prepareErase(database: Database): (ref: SessionRef) => boolean {
  const find = database.prepare<{ row: number }, [string, string]>(
    'SELECT row FROM sessions WHERE owner = ? AND id = ?',
  );
  const steps = [
    'message_words WHERE rowid IN (SELECT id FROM messages WHERE session = ?)',
    'messages WHERE session = ?',
    'turns WHERE session = ?',
    'shares WHERE session = ?',
    'webhooks WHERE session = ?',
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
