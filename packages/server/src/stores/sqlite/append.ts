import type { Database } from 'bun:sqlite';
import { type DurableEvent, writtenVersion } from '@parlance/protocol';
import { AppendConflict, type LookupKey, type SessionRecord } from '../../core/ports/event-store.ts';
import { lookupKeysOf } from '../shared/lookup-keys.ts';
import { checkNumbering } from '../shared/numbering.ts';
import type { EventOptions } from '../shared/stored-event.ts';
import { storable, storableLabels, storableRef } from '../shared/text.ts';

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
    INSERT INTO sessions (owner, id, dialect, domain, agent, title, renamed, first_input, status, approval, archived, ephemeral,
      pinned, tags, labels, message_count, created_at, updated_at, head)
    VALUES ($owner, $id, $dialect, $domain, $agent, $title, $renamed, $firstInput, $status, $approval, $archived, $ephemeral,
      $pinned, $tags, $labels, $messageCount, $createdAt, $updatedAt, $head)`);
  const updateSession = database.prepare(`
    UPDATE sessions SET dialect = $dialect, domain = $domain, agent = $agent, title = $title, renamed = $renamed,
      first_input = $firstInput, status = $status, approval = $approval, archived = $archived, ephemeral = $ephemeral,
      pinned = $pinned, tags = $tags, labels = $labels, message_count = $messageCount, created_at = $createdAt, updated_at = $updatedAt, head = $head
    WHERE owner = $owner AND id = $id`);
  const insertEvent = database.prepare(
    'INSERT INTO events (session, seq, version, body) VALUES (?, ?, ?, ?)',
  );
  const insertKey = database.prepare('INSERT OR IGNORE INTO lookups (kind, id, session) VALUES (?, ?, ?)');
  const keepCheckpoint = prepareCheckpoint(database);

  return ({ expected, events, keys, record }) => {
    const ref = storableRef(record.ref);
    const found = find.get(ref.owner, ref.id);
    const actual = found?.head ?? 0;
    if (actual !== expected) throw new AppendConflict(record.ref, expected, actual);

    const values = sessionValues(record);
    const written = (found ? updateSession : insertSession).run(values);
    const row = found?.row ?? Number(written.lastInsertRowid);
    events.forEach(({ event, body }, index) => {
      insertEvent.run(row, expected + 1 + index, writtenVersion(event, upcasts), body);
    });
    for (const { kind, id } of keys) insertKey.run(kind, id, row);
    keepCheckpoint(row, record.checkpoint);
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

const sessionValues = (record: SessionRecord) => ({
  ...storableRef(record.ref),
  dialect: storable(record.dialect),
  domain: storable(record.domain),
  agent: storable(record.agent),
  title: storable(record.title),
  renamed: Number(record.renamed),
  firstInput: storable(record.firstInput),
  status: record.status,
  approval: record.approval && storable(record.approval),
  archived: Number(record.archived),
  ephemeral: Number(record.ephemeral),
  pinned: Number(record.pinned),
  tags: JSON.stringify(record.tags.map(storable)),
  labels: JSON.stringify(storableLabels(record.labels)),
  messageCount: record.messageCount,
  createdAt: record.createdAt,
  updatedAt: record.updatedAt,
  head: record.head,
});
