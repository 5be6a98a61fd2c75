/** Finds sessions: lists, counts, tags and lookups. */
import type { PrincipalId, SessionId } from '@parlance/protocol';
import type {
  LookupKey,
  SessionFilter,
  SessionPage,
  SessionQuery,
  SessionRecord,
  SessionRef,
  TagCount,
} from '../../core/ports/event-store.ts';
import { decodeCursor, encodeCursor, rowLimit } from '../shared/paging.ts';
import { storableKey } from '../shared/stored-event.ts';
import { storable } from '../shared/text.ts';
import type { Statements } from './database.ts';
import { parseRecord, SELECT_RECORD } from './sessions.ts';

const ORDER = 'ORDER BY updated_at DESC, row DESC';

/**
 * Runs one SELECT per status, which the index returns in order, so that it reads no more rows than a page
 * has.
 */
export const prepareList =
  (database: Statements) =>
  async ({ status, ...query }: SessionQuery): Promise<SessionPage> => {
    const values = new Values();
    const conditions = conditionsOf(query, values);
    if (query.cursor !== undefined) {
      const { updatedAt, row } = decodeCursor(query.cursor);
      conditions.push(`(updated_at, row) < (${values.add(updatedAt)}::bigint, ${values.add(row)}::bigint)`);
    }
    const limit = rowLimit(query.limit);
    const offset = rowLimit(query.offset ?? 0);
    const statuses = status && [...new Set(status)];
    if (statuses?.length === 0) return { sessions: [], next: null };
    const branches = (statuses ?? [null]).map((one) =>
      whereOf(one === null ? conditions : [...conditions, `status = ${values.add(one)}`]),
    );
    // one extra row shows whether there is a next page
    const max = values.add(limit + offset + 1);
    const selected = branches.map((where) => `(${SELECT_RECORD} ${where} ${ORDER} LIMIT ${max}::bigint)`);
    const rows = await database.query(
      `SELECT * FROM (${selected.join(' UNION ALL ')}) AS found
       ${ORDER} LIMIT ${values.add(limit + 1)}::bigint OFFSET ${values.add(offset)}::bigint`,
      values.list,
    );
    const found = rows.map(parseRecord);
    const page = found.slice(0, limit);
    const last = page.at(-1);
    return {
      sessions: page.map(({ record }) => record),
      next:
        last && found.length > limit
          ? encodeCursor({ updatedAt: last.record.updatedAt, row: last.row })
          : null,
    };
  };

// Session filters as SQL.

/** Parameters of a statement; `add` returns the placeholder. */
export class Values {
  readonly list: unknown[] = [];

  add(value: string | number): string {
    this.list.push(value);
    return `$${this.list.length}`;
  }
}

/**
 * All conditions of the filter except the status: each status value is a separate query if an index provides
 * the order.
 */
function conditionsOf(filter: SessionFilter, values: Values): string[] {
  const { owner, domain, archived, ephemeral, pinned, tag, label, title, awaitingApproval } = filter;
  const conditions: string[] = [];
  if (owner !== undefined) conditions.push(`owner = ${values.add(storable(owner))}`);
  if (domain !== undefined) conditions.push(`domain = ${values.add(storable(domain))}`);
  if (archived !== 'included') conditions.push(archived === 'only' ? 'archived' : 'NOT archived');
  if (ephemeral !== 'included') conditions.push(ephemeral === 'only' ? 'ephemeral' : 'NOT ephemeral');
  if (pinned) conditions.push('pinned');
  // The first condition must match the partial index.
  if (tag !== undefined)
    conditions.push(`tags <> '[]' AND tags @> jsonb_build_array(${values.add(storable(tag))}::text)`);
  if (label !== undefined) {
    const name = values.add(storable(label.name));
    conditions.push(`labels ->> ${name}::text = ${values.add(storable(label.value))}`);
  }
  // With collation C, only ASCII letters are lowercased.
  if (title !== undefined)
    conditions.push(`strpos(lower(title), lower(${values.add(storable(title))}::text COLLATE "C")) > 0`);
  // must match the condition of the partial indexes
  if (awaitingApproval) conditions.push('approval IS NOT NULL');
  return conditions;
}

const whereOf = (conditions: readonly string[]): string =>
  conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';

export const prepareCount =
  (database: Statements) =>
  async ({ status, ...filter }: SessionFilter): Promise<number> => {
    const values = new Values();
    const conditions = conditionsOf(filter, values);
    if (status) conditions.push(`status IN (${status.map((one) => values.add(one)).join(', ') || 'NULL'})`);
    const [found] = await database.query(
      `SELECT count(*) AS count FROM sessions ${whereOf(conditions)}`,
      values.list,
    );
    return Number(found?.count ?? 0);
  };

export const prepareLookup =
  (database: Statements) =>
  async (given: LookupKey, { owner, id }: Partial<SessionRef> = {}): Promise<SessionRecord | null> => {
    const { kind, id: key } = storableKey(given);
    const [found] = await database.query(
      `${SELECT_RECORD}
       WHERE row IN (SELECT session FROM lookups WHERE kind = $1 AND lookups.id = $2)
         AND ($3::text IS NULL OR owner = $3) AND ($4::text IS NULL OR sessions.id = $4)
       ORDER BY (approval IS NOT DISTINCT FROM $2) DESC, updated_at DESC, row DESC LIMIT 1`,
      [kind, key, storableOrNull(owner), storableOrNull(id)],
    );
    return found ? parseRecord(found).record : null;
  };

const storableOrNull = (text: string | undefined): string | null =>
  text === undefined ? null : storable(text);

export const prepareFindById =
  (database: Statements) =>
  async (id: SessionId): Promise<SessionRecord[]> => {
    const found = await database.query(`${SELECT_RECORD} WHERE id = $1 ORDER BY updated_at DESC, row DESC`, [
      storable(id),
    ]);
    return found.map((row) => parseRecord(row).record);
  };

export const prepareTags =
  (database: Statements) =>
  async (owner: PrincipalId): Promise<TagCount[]> => {
    const rows = await database.query(
      `SELECT tag, count(*) AS sessions FROM sessions, jsonb_array_elements_text(tags) AS tag
       WHERE owner = $1 AND tags <> '[]' AND NOT archived AND NOT ephemeral
       GROUP BY tag ORDER BY tag COLLATE "C"`,
      [storable(owner)],
    );
    return rows.map(({ tag, sessions }) => ({ tag: String(tag), sessions: Number(sessions) }));
  };
