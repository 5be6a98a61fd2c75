/** Sessions, their records and their events: read, touched and erased. `append.ts` writes them. */
import { ApprovalId, type DurableEvent, PrincipalId, SessionId } from '@parlance/protocol';
import { z } from 'zod';
import type { SessionRecord, SessionRef } from '../../core/ports/event-store.ts';
import { rowLimit } from '../shared/paging.ts';
import { type EventOptions, readStored } from '../shared/stored-event.ts';
import { storableRef } from '../shared/text.ts';
import type { Database, Statements } from './database.ts';

/** The columns of a record. */
export const SELECT_RECORD = `
  SELECT row, owner, id, dialect, domain, agent, title, renamed, first_input, status, approval, archived, ephemeral,
    pinned, tags, labels, message_count, last_model, created_at, updated_at, head,
    checkpoints.version AS checkpoint_version, checkpoints.seq AS checkpoint_seq, checkpoints.state AS checkpoint_state
  FROM sessions LEFT JOIN checkpoints ON checkpoints.session = sessions.row`;

/** The client returns BIGINT as text. */
export const BigInteger = z.coerce.number();

const RecordRow = z.object({
  row: BigInteger,
  owner: PrincipalId,
  id: SessionId,
  dialect: z.string(),
  domain: z.string(),
  agent: z.string(),
  title: z.string(),
  renamed: z.boolean(),
  first_input: z.string(),
  status: z.enum(['idle', 'running', 'waiting', 'failed']),
  approval: ApprovalId.nullable(),
  archived: z.boolean(),
  ephemeral: z.boolean(),
  pinned: z.boolean(),
  tags: z.array(z.string()),
  labels: z.record(z.string(), z.string()),
  message_count: BigInteger,
  last_model: z.string().nullable(),
  created_at: BigInteger,
  updated_at: BigInteger,
  head: BigInteger,
  checkpoint_version: z.number().nullable(),
  checkpoint_seq: BigInteger.nullable(),
  checkpoint_state: z.string().nullable(),
});

/** Throws if the row was not written by us. */
export function parseRecord(value: unknown): { row: number; record: SessionRecord } {
  const { row, owner, id, first_input, created_at, updated_at, message_count, last_model, ...rest } =
    RecordRow.parse(value);
  const { checkpoint_version: version, checkpoint_seq: seq, checkpoint_state: state, ...shown } = rest;
  const checkpoint = version === null || seq === null || state === null ? null : { version, seq, state };
  return {
    row,
    record: {
      ...shown,
      ref: { owner, id },
      firstInput: first_input,
      messageCount: message_count,
      lastModel: last_model ?? undefined,
      createdAt: created_at,
      updatedAt: updated_at,
      checkpoint,
    },
  };
}

/**
 * The bucket of an owner. It is part of every key, so that a database can be split by buckets without
 * rewriting keys. Must never change: CRC-32 is the same everywhere.
 */
const BUCKETS = 4096;

/** `owner` in its stored form. */
export const bucketOf = (owner: string): number => Bun.hash.crc32(owner) % BUCKETS;

const StoredRow = z.object({ seq: z.coerce.number(), version: z.number(), body: z.string() });

export const prepareRead =
  (database: Statements, options: EventOptions = {}) =>
  async (ref: SessionRef, after: number, limit: number): Promise<DurableEvent[]> => {
    const { owner, id } = storableRef(ref);
    const rows = await database.query(
      `SELECT seq, version, body FROM events
       WHERE bucket = $1 AND seq > $4
         AND session = (SELECT row FROM sessions WHERE bucket = $1 AND owner = $2 AND id = $3)
       ORDER BY seq LIMIT $5`,
      [bucketOf(owner), owner, id, after, rowLimit(limit)],
    );
    return rows.map((row) => readStored(ref, StoredRow.parse(row), options));
  };

export const prepareHead =
  (database: Statements) =>
  async (ref: SessionRef): Promise<number> => {
    const { owner, id } = storableRef(ref);
    const [found] = await database.query(
      'SELECT head FROM sessions WHERE bucket = $1 AND owner = $2 AND id = $3',
      [bucketOf(owner), owner, id],
    );
    return Number(found?.head ?? 0);
  };

export const prepareHeads =
  (database: Statements) =>
  async (refs: readonly SessionRef[]): Promise<number[]> => {
    const stored = refs.map(storableRef);
    const rows = await database.query(
      `SELECT asked.place, sessions.head
       FROM jsonb_to_recordset($1::text::jsonb) AS asked(place int, bucket smallint, owner text, id text)
       JOIN sessions USING (bucket, owner, id)`,
      [JSON.stringify(stored.map(({ owner, id }, place) => ({ place, bucket: bucketOf(owner), owner, id })))],
    );
    const heads = refs.map(() => 0);
    for (const row of rows) heads[Number(row.place)] = Number(row.head);
    return heads;
  };

export const prepareLoad =
  (database: Statements) =>
  async (ref: SessionRef): Promise<SessionRecord | null> => {
    const { owner, id } = storableRef(ref);
    const [found] = await database.query(`${SELECT_RECORD} WHERE bucket = $1 AND owner = $2 AND id = $3`, [
      bucketOf(owner),
      owner,
      id,
    ]);
    return found ? parseRecord(found).record : null;
  };

export const prepareTouch =
  (database: Statements) =>
  async (ref: SessionRef, at: number): Promise<void> => {
    const { owner, id } = storableRef(ref);
    await database.query(
      `UPDATE sessions SET updated_at = $4
       WHERE bucket = $1 AND owner = $2 AND id = $3 AND updated_at < $4`,
      [bucketOf(owner), owner, id, at],
    );
  };

/**
 * Locks the row in a separate statement: the deletions then see all earlier appends, and no later ones can
 * happen.
 */
export const prepareErase =
  (database: Database) =>
  (ref: SessionRef): Promise<boolean> =>
    database.transaction(async ({ query }) => {
      const { owner, id } = storableRef(ref);
      const bucket = bucketOf(owner);
      const [found] = await query(
        'SELECT row FROM sessions WHERE bucket = $1 AND owner = $2 AND id = $3 FOR UPDATE',
        [bucket, owner, id],
      );
      if (!found) return false;
      const { row } = found;
      await query('DELETE FROM events WHERE bucket = $1 AND session = $2', [bucket, row]);
      await query('DELETE FROM messages WHERE session = $1', [row]);
      await query('DELETE FROM turns WHERE session = $1', [row]);
      await query('DELETE FROM shares WHERE session = $1', [row]);
      await query('DELETE FROM checkpoints WHERE session = $1', [row]);
      await query('DELETE FROM lookups WHERE session = $1', [row]);
      await query('DELETE FROM sessions WHERE row = $1', [row]);
      return true;
    });
