/** Sessions, their records and their events: appended, read, touched and erased. */
import type { Database } from 'bun:sqlite';
import { ApprovalId, type DurableEvent, PrincipalId, SessionId, writtenVersion } from '@parlance/protocol';
import { z } from 'zod';
import {
  AppendConflict,
  type LookupKey,
  type SessionRecord,
  type SessionRef,
} from '../../core/ports/event-store.ts';
import { rowLimit } from '../shared/paging.ts';
import {
  checkNumbering,
  type EventOptions,
  lookupKeysOf,
  readStored,
  type StoredRow,
} from '../shared/stored-event.ts';
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
      pinned, tags, labels, message_count, last_model, created_at, updated_at, head)
    VALUES ($owner, $id, $dialect, $domain, $agent, $title, $renamed, $firstInput, $status, $approval, $archived, $ephemeral,
      $pinned, $tags, $labels, $messageCount, $lastModel, $createdAt, $updatedAt, $head)`);
  const updateSession = database.prepare(`
    UPDATE sessions SET dialect = $dialect, domain = $domain, agent = $agent, title = $title, renamed = $renamed,
      first_input = $firstInput, status = $status, approval = $approval, archived = $archived, ephemeral = $ephemeral,
      pinned = $pinned, tags = $tags, labels = $labels, message_count = $messageCount, last_model = $lastModel, created_at = $createdAt, updated_at = $updatedAt, head = $head
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
  lastModel: record.lastModel ? storable(record.lastModel) : null,
  createdAt: record.createdAt,
  updatedAt: record.updatedAt,
  head: record.head,
});

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

export function prepareHead(database: Database): (ref: SessionRef) => number {
  const find = database.prepare<{ head: number }, [string, string]>(
    'SELECT head FROM sessions WHERE owner = ? AND id = ?',
  );
  return (ref) => {
    const { owner, id } = storableRef(ref);
    return find.get(owner, id)?.head ?? 0;
  };
}

export function prepareLoad(database: Database): (ref: SessionRef) => SessionRecord | null {
  const select = database.prepare<unknown, [string, string]>(`${SELECT_RECORD} WHERE owner = ? AND id = ?`);

  return (ref) => {
    const found = select.get(storable(ref.owner), storable(ref.id));
    return found ? parseRecord(found).record : null;
  };
}

export function prepareTouch(database: Database): (ref: SessionRef, at: number) => void {
  const touch = database.prepare(
    'UPDATE sessions SET updated_at = ?3 WHERE owner = ?1 AND id = ?2 AND updated_at < ?3',
  );
  return (ref, at) => {
    const { owner, id } = storableRef(ref);
    touch.run(owner, id, at);
  };
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

// Session rows and records.

/** The columns of a record. */
export const SELECT_RECORD = `
  SELECT row, owner, id, dialect, domain, agent, title, renamed, first_input, status, approval, archived, ephemeral, pinned, tags, labels,
    message_count, last_model, created_at, updated_at, head,
    checkpoints.version AS checkpoint_version, checkpoints.seq AS checkpoint_seq, checkpoints.state AS checkpoint_state
  FROM sessions LEFT JOIN checkpoints ON checkpoints.session = sessions.row`;

const RecordRow = z.object({
  row: z.number(),
  owner: PrincipalId,
  id: SessionId,
  dialect: z.string(),
  domain: z.string(),
  agent: z.string(),
  title: z.string(),
  renamed: z.number(),
  first_input: z.string(),
  status: z.enum(['idle', 'running', 'waiting', 'failed']),
  approval: ApprovalId.nullable(),
  archived: z.number(),
  ephemeral: z.number(),
  pinned: z.number(),
  tags: z.string(),
  labels: z.string(),
  message_count: z.number(),
  last_model: z.string().nullable(),
  created_at: z.number(),
  updated_at: z.number(),
  head: z.number(),
  checkpoint_version: z.number().nullable(),
  checkpoint_seq: z.number().nullable(),
  checkpoint_state: z.string().nullable(),
});

const Tags = z.array(z.string());
const Labels = z.record(z.string(), z.string());

/** Throws if the row was not written by us. */
export function parseRecord(value: unknown): { row: number; record: SessionRecord } {
  const {
    row,
    owner,
    id,
    archived,
    ephemeral,
    pinned,
    tags,
    labels,
    renamed,
    first_input,
    created_at,
    updated_at,
    message_count,
    last_model,
    ...rest
  } = RecordRow.parse(value);
  const { checkpoint_version: version, checkpoint_seq: seq, checkpoint_state: state, ...shown } = rest;
  const checkpoint = version === null || seq === null || state === null ? null : { version, seq, state };
  return {
    row,
    record: {
      ...shown,
      ref: { owner, id },
      renamed: renamed !== 0,
      firstInput: first_input,
      archived: archived !== 0,
      ephemeral: ephemeral !== 0,
      pinned: pinned !== 0,
      tags: Tags.parse(JSON.parse(tags)),
      labels: Labels.parse(JSON.parse(labels)),
      messageCount: message_count,
      lastModel: last_model ?? undefined,
      createdAt: created_at,
      updatedAt: updated_at,
      checkpoint,
    },
  };
}
