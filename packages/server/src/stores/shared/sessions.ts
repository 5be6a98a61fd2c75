/** Finds sessions and turns: by id, lists, counts, tags and lookups, for both databases. */
import { ApprovalId, PrincipalId, SessionId, TurnId } from '@parlance/protocol';
import { z } from 'zod';
import type {
  IndexedTurn,
  SessionFilter,
  SessionIndex,
  SessionRecord,
  SessionRef,
  TurnFilter,
  TurnIndex,
} from '../../core/ports/event-store.ts';
import { Flag, Integer, isSession, json, type SharedDatabase, Values } from './database.ts';
import { candidatesOf, titlePart } from './filter-index.ts';
import {
  decodeCursor,
  decodeSearchCursor,
  encodeCursor,
  encodeSearchCursor,
  pageOf,
  rowLimit,
} from './paging.ts';
import { storableKey } from './stored-event.ts';
import { byCodePoint, storable, storableLabels, storableOrNull } from './text.ts';

const RecordColumns = z.object({
  dialect: z.string(),
  domain: z.string(),
  agent: z.string(),
  title: z.string(),
  renamed: Flag,
  first_input: z.string(),
  status: z.enum(['idle', 'running', 'waiting', 'failed']),
  /** `pending` of the record: also questions, which are later than the schema */
  approval: ApprovalId.nullable(),
  archived: Flag,
  ephemeral: Flag,
  parent: SessionId.nullable(),
  pinned: Flag,
  tags: json(z.array(z.string())),
  labels: json(z.record(z.string(), z.string())),
  message_count: Integer,
  last_model: z.string().nullable(),
  created_at: Integer,
  updated_at: Integer,
  head: Integer,
});

/** Columns of `sessions` that hold the record. */
export const RECORD_COLUMNS = Object.keys(RecordColumns.shape);

/** The values of these columns. Text is `storable`. */
export const recordValues = (record: SessionRecord) => ({
  dialect: storable(record.dialect),
  domain: storable(record.domain),
  agent: storable(record.agent),
  title: storable(record.title),
  renamed: record.renamed,
  first_input: storable(record.firstInput),
  status: record.status,
  approval: record.pending && storable(record.pending),
  archived: record.archived,
  ephemeral: record.ephemeral,
  parent: record.parent && storable(record.parent),
  pinned: record.pinned,
  tags: record.tags.map(storable),
  labels: storableLabels(record.labels),
  message_count: record.messageCount,
  last_model: record.lastModel ? storable(record.lastModel) : null,
  created_at: record.createdAt,
  updated_at: record.updatedAt,
  head: record.head,
});

const selectRecord = (sessions: string): string => `
  SELECT row, owner, id, ${RECORD_COLUMNS.join(', ')},
    checkpoints.version AS checkpoint_version, checkpoints.seq AS checkpoint_seq, checkpoints.state AS checkpoint_state
  FROM ${sessions} LEFT JOIN checkpoints ON checkpoints.session = sessions.row`;
const SELECT_RECORD = selectRecord('sessions');

const RecordRow = RecordColumns.extend({
  row: Integer,
  owner: PrincipalId,
  id: SessionId,
  checkpoint_version: Integer.nullable(),
  checkpoint_seq: Integer.nullable(),
  checkpoint_state: z.string().nullable(),
});

/** Throws if the row was not written by us. */
function recordIn(value: unknown): SessionRecord {
  const { row: _row, owner, id, ...columns } = RecordRow.parse(value);
  const { approval, first_input, message_count, last_model, created_at, updated_at, ...rest } = columns;
  const { checkpoint_version: version, checkpoint_seq: seq, checkpoint_state: state, ...shown } = rest;
  return {
    ...shown,
    ref: { owner, id },
    pending: approval,
    firstInput: first_input,
    messageCount: message_count,
    lastModel: last_model ?? undefined,
    createdAt: created_at,
    updatedAt: updated_at,
    checkpoint: version === null || seq === null || state === null ? null : { version, seq, state },
  };
}

const whereOf = (conditions: readonly string[]): string =>
  conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';

const ORDER = 'ORDER BY updated_at DESC, row DESC';

type Sessions = Omit<SessionIndex, 'heads'> & {
  head(ref: SessionRef): Promise<number>;
  load(ref: SessionRef): Promise<SessionRecord | null>;
};

export function sessionQueries(database: SharedDatabase): Sessions {
  const { query, dialect } = database;
  const { is, not, elements, key, keyOf } = dialect;
  // Texts of frequent statements, so that they are not made for each.
  const HEAD = `SELECT head FROM sessions WHERE ${isSession(dialect)}`;
  const LOAD = `${SELECT_RECORD} WHERE ${isSession(dialect)}`;
  const TIME = `CAST($${key.length + 1} AS BIGINT)`;
  const TOUCH = `UPDATE sessions SET updated_at = ${TIME} WHERE ${isSession(dialect)} AND updated_at < ${TIME}`;

  /** All conditions of the filter except the status. Those on flags and tags must match the partial indexes. */
  function conditionsOf(filter: SessionFilter, values: Values): string[] {
    const { owner, domain, archived, ephemeral, parent, pinned, tag, label, title, awaitsUser } = filter;
    const conditions: string[] = [];
    if (owner !== undefined) conditions.push(`owner = ${values.add(storable(owner))}`);
    if (domain !== undefined) conditions.push(`domain = ${values.add(storable(domain))}`);
    if (archived !== 'included') conditions.push(archived === 'only' ? is('archived') : not('archived'));
    if (ephemeral !== 'included') conditions.push(ephemeral === 'only' ? is('ephemeral') : not('ephemeral'));
    if (parent === undefined) conditions.push('sessions.parent IS NULL');
    else if (parent !== 'included') conditions.push(`sessions.parent = ${values.add(storable(parent))}`);
    if (pinned) conditions.push(is('pinned'));
    if (tag !== undefined) {
      const value = values.text(storable(tag));
      conditions.push(`tags <> '[]' AND EXISTS (SELECT 1 FROM ${elements.tags} WHERE value = ${value})`);
    }
    if (label !== undefined) {
      const [name, value] = [values.text(storable(label.name)), values.text(storable(label.value))];
      conditions.push(`EXISTS (SELECT 1 FROM ${elements.labels} WHERE key = ${name} AND value = ${value})`);
    }
    if (title !== undefined) {
      conditions.push(`${dialect.position}(lower(title), ${values.text(titlePart(title))}) > 0`);
    }
    if (awaitsUser) conditions.push('approval IS NOT NULL');
    return conditions;
  }

  /** The sessions to read and the conditions on them. SQLite reads what is left of a CROSS JOIN first. */
  async function matching(filter: SessionFilter, values: Values) {
    const isIndexed = filter.title !== undefined || filter.label !== undefined;
    const candidates = isIndexed ? await candidatesOf(filter, database) : null;
    const conditions = conditionsOf(filter, values);
    if (!candidates) return { sessions: 'sessions', conditions };
    conditions.push('sessions.row = candidate');
    return { sessions: `(${candidates(values)}) AS candidates CROSS JOIN sessions`, conditions };
  }

  return {
    /** One SELECT per status, which the index returns in order. */
    async list({ status, cursor, offset = 0, ...filter }) {
      const values = new Values();
      const { sessions, conditions } = await matching(filter, values);
      if (cursor !== undefined) {
        const { updatedAt, row } = decodeCursor(cursor);
        conditions.push(`(updated_at, row) < (${values.integer(updatedAt)}, ${values.integer(row)})`);
      }
      const limit = rowLimit(filter.limit);
      const skipped = rowLimit(offset);
      const statuses = status && [...new Set(status)];
      if (statuses?.length === 0) return { sessions: [], next: null };
      const selects = (statuses ?? [null]).map((one) => {
        const where = one === null ? conditions : [...conditions, `status = ${values.add(one)}`];
        return `${selectRecord(sessions)} ${whereOf(where)}`;
      });
      // One extra row shows whether there is a next page.
      const merged = dialect.merge(selects, ORDER, values.integer(limit + skipped + 1));
      const rows = await query(
        `${merged} ${ORDER} LIMIT ${values.integer(limit + 1)} OFFSET ${values.integer(skipped)}`,
        values.list,
      );
      const { page, next } = pageOf(rows, limit, (last) =>
        encodeCursor({ updatedAt: Number(last.updated_at), row: Number(last.row) }),
      );
      return { sessions: page.map(recordIn), next };
    },

    async count({ status, ...filter }) {
      const values = new Values();
      const { sessions, conditions } = await matching(filter, values);
      if (status) {
        const statuses = [...new Set(status)].map((one) => values.add(one));
        conditions.push(`status IN (${statuses.join(', ') || 'NULL'})`);
      }
      const [found] = await query(
        `SELECT count(*) AS count FROM ${sessions} ${whereOf(conditions)}`,
        values.list,
      );
      return Number(found?.count ?? 0);
    },

    async lookup(given, { owner, id } = {}) {
      const { kind, id: key } = storableKey(given);
      const [found] = await query(
        `${SELECT_RECORD}
         WHERE row IN (SELECT session FROM lookups WHERE kind = $1 AND lookups.id = $2)
           AND (CAST($3 AS TEXT) IS NULL OR owner = $3) AND (CAST($4 AS TEXT) IS NULL OR sessions.id = $4)
         ORDER BY (approval IS NOT DISTINCT FROM $2) DESC, updated_at DESC, row DESC LIMIT 1`,
        [kind, key, storableOrNull(owner), storableOrNull(id)],
      );
      return found ? recordIn(found) : null;
    },

    async findById(id) {
      return (await query(`${SELECT_RECORD} WHERE id = $1 ORDER BY created_at, row`, [storable(id)])).map(
        recordIn,
      );
    },

    async tags(owner) {
      const rows = await query(
        `SELECT value, count(*) AS sessions FROM sessions, ${elements.tags}
         WHERE owner = $1 AND tags <> '[]' AND ${not('archived')} AND ${not('ephemeral')} AND sessions.parent IS NULL GROUP BY value`,
        [storable(owner)],
      );
      const counts = rows.map(({ value, sessions }) => ({ tag: String(value), sessions: Number(sessions) }));
      return counts.sort((one, other) => byCodePoint(one.tag, other.tag));
    },

    async head(ref) {
      const [found] = await query(HEAD, keyOf(ref));
      return Number(found?.head ?? 0);
    },

    async load(ref) {
      const [found] = await query(LOAD, keyOf(ref));
      return found ? recordIn(found) : null;
    },

    async touch(ref, at) {
      await query(TOUCH, [...keyOf(ref), at]);
    },
  };
}

// The index of turns.

const TurnRow = z.object({
  row: Integer,
  owner: PrincipalId,
  session: SessionId,
  id: TurnId,
  state: z.enum(['queued', 'working', 'waiting', 'ended', 'failed', 'cancelled']),
  at: Integer,
  first: Integer,
  last: Integer,
});

const SELECT_TURN = `
  SELECT turns.session AS row, turns.owner AS owner, sessions.id AS session, turns.id AS id, state, at,
    first_seq AS first, last_seq AS last
  FROM turns JOIN sessions ON sessions.row = turns.session`;

function turnIn(value: unknown): IndexedTurn {
  const { owner, session, row: _row, ...turn } = TurnRow.parse(value);
  return { ...turn, ref: { owner, id: session } };
}

export function turnQueries({ query, dialect }: SharedDatabase): TurnIndex {
  const ofSession = (ref: SessionRef, values: Values): string =>
    `turns.session = (SELECT row FROM sessions WHERE ${values.session(dialect, ref)})`;

  function conditionsOf({ owner, session, state, since }: TurnFilter, values: Values): string[] {
    const conditions =
      session === undefined
        ? [`turns.owner = ${values.add(storable(owner))}`, dialect.not('archived')]
        : [ofSession({ owner, id: session }, values)];
    if (state !== undefined) conditions.push(`state = ${values.add(state)}`);
    if (since !== undefined) conditions.push(`at > ${values.integer(since)}`);
    return conditions;
  }

  return {
    async list({ limit: requested, cursor, ...filter }) {
      const limit = rowLimit(requested);
      const values = new Values();
      const conditions = conditionsOf(filter, values);
      if (cursor !== undefined) {
        const { at, row, seq } = decodeSearchCursor(cursor);
        const position = [at, row, seq].map((value) => values.integer(value)).join(', ');
        conditions.push(`(at, turns.session, last_seq) < (${position})`);
      }
      const rows = await query(
        `${SELECT_TURN} ${whereOf(conditions)}
         ORDER BY at DESC, turns.session DESC, last_seq DESC LIMIT ${values.integer(limit + 1)}`,
        values.list,
      );
      const { page, next } = pageOf(rows, limit, ({ at, row, last }) =>
        encodeSearchCursor({ at: Number(at), row: Number(row), seq: Number(last) }),
      );
      return { turns: page.map(turnIn), next };
    },

    async count(filter) {
      const values = new Values();
      const [found] = await query(
        `SELECT count(*) AS count FROM turns JOIN sessions ON sessions.row = turns.session
         ${whereOf(conditionsOf(filter, values))}`,
        values.list,
      );
      return Number(found?.count ?? 0);
    },

    async find(ref, id) {
      const values = new Values();
      const [found] = await query(
        `${SELECT_TURN} WHERE ${ofSession(ref, values)} AND turns.id = ${values.add(storable(id))}`,
        values.list,
      );
      return found ? turnIn(found) : null;
    },
  };
}
