/** Finds sessions: lists, counts, tags and lookups. */
import type { Database, Statement } from 'bun:sqlite';
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
import { parseRecord, SELECT_RECORD } from './sessions.ts';

/**
 * Each combination of filters is a separate prepared statement that uses its own index. Each status is a
 * separate SELECT, which the index returns in order, and SQLite merges them.
 */
export function prepareList(database: Database): (query: SessionQuery) => SessionPage {
  const statements = new Map<string, Statement<unknown, [Values]>>();

  function statementFor(branches: readonly string[]): Statement<unknown, [Values]> {
    const selected = branches.map((where) => `${SELECT_RECORD} ${where}`).join(' UNION ALL ');
    const cached = statements.get(selected);
    if (cached) return cached;
    const made = database.prepare<unknown, [Values]>(
      `${selected} ORDER BY updated_at DESC, row DESC LIMIT $limit OFFSET $offset`,
    );
    statements.set(selected, made);
    return made;
  }

  return ({ status, ...query }) => {
    const limit = rowLimit(query.limit);
    const { conditions, values } = conditionsOf(query);
    if (query.cursor !== undefined) {
      conditions.push('(updated_at, row) < ($updatedAt, $row)');
      Object.assign(values, decodeCursor(query.cursor));
    }
    const statuses = status && [...new Set(status)];
    if (statuses?.length === 0) return { sessions: [], next: null };
    const branches = statuses?.map((_, index) => whereOf([...conditions, `status = $status${index}`]));
    statuses?.forEach((one, index) => {
      values[`status${index}`] = one;
    });
    // one extra row shows whether there is a next page
    const found = statementFor(branches ?? [whereOf(conditions)])
      .all({ ...values, limit: limit + 1, offset: rowLimit(query.offset ?? 0) })
      .map(parseRecord);
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
}

// Session filters as SQL.

type Values = Record<string, string | number>;
type Conditions = { readonly conditions: string[]; readonly values: Values };

function conditionsOf(filter: SessionFilter): Conditions {
  const { owner, domain, status, archived, ephemeral, pinned, tag, label, title, awaitingApproval } = filter;
  const conditions: string[] = [];
  const values: Values = {};
  if (owner !== undefined) {
    conditions.push('owner = $owner');
    values.owner = storable(owner);
  }
  if (domain !== undefined) {
    conditions.push('domain = $domain');
    values.domain = storable(domain);
  }
  if (status !== undefined) {
    conditions.push('status IN (SELECT value FROM json_each($status))');
    values.status = JSON.stringify(status);
  }
  if (archived !== 'included') conditions.push(archived === 'only' ? 'archived <> 0' : 'archived = 0');
  if (ephemeral !== 'included') conditions.push(ephemeral === 'only' ? 'ephemeral <> 0' : 'ephemeral = 0');
  if (pinned) conditions.push('pinned <> 0');
  if (tag !== undefined) {
    // Tags are never empty: the first condition must match the partial indexes.
    conditions.push("tags <> '[]' AND EXISTS (SELECT 1 FROM json_each(tags) WHERE value = $tag)");
    values.tag = storable(tag);
  }
  if (label !== undefined) {
    conditions.push(
      'EXISTS (SELECT 1 FROM json_each(labels) WHERE key = $labelName AND value = $labelValue)',
    );
    values.labelName = storable(label.name);
    values.labelValue = storable(label.value);
  }
  if (title !== undefined) {
    conditions.push('instr(lower(title), lower($title)) > 0');
    values.title = storable(title);
  }
  // Like `ephemeral <> 0` above, must match the condition of the partial indexes, so that SQLite uses them.
  if (awaitingApproval) conditions.push('approval IS NOT NULL');
  return { conditions, values };
}

const whereOf = (conditions: readonly string[]): string =>
  conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';

export function prepareCount(database: Database): (filter: SessionFilter) => number {
  return (filter) => {
    const { conditions, values } = conditionsOf(filter);
    // `query` caches the prepared statement
    const statement = database.query<{ count: number }, [typeof values]>(
      `SELECT count(*) AS count FROM sessions ${whereOf(conditions)}`,
    );
    return statement.get(values)?.count ?? 0;
  };
}

type LookupValues = { kind: string; key: string; owner: string | null; id: string | null };

export function prepareLookup(
  database: Database,
): (key: LookupKey, within?: Partial<SessionRef>) => SessionRecord | null {
  const select = database.prepare<unknown, [LookupValues]>(`
    ${SELECT_RECORD}
    WHERE row IN (SELECT session FROM lookups WHERE kind = $kind AND lookups.id = $key)
      AND ($owner IS NULL OR owner = $owner) AND ($id IS NULL OR id = $id)
    ORDER BY approval IS $key DESC, updated_at DESC, row DESC LIMIT 1`);

  return (given, { owner, id } = {}) => {
    const { kind, id: key } = storableKey(given);
    const found = select.get({ kind, key, owner: storableOrNull(owner), id: storableOrNull(id) });
    return found ? parseRecord(found).record : null;
  };
}

const storableOrNull = (text: string | undefined): string | null =>
  text === undefined ? null : storable(text);

export function prepareFindById(database: Database): (id: SessionId) => SessionRecord[] {
  const select = database.prepare<unknown, [string]>(
    `${SELECT_RECORD} WHERE id = ? ORDER BY updated_at DESC, row DESC`,
  );

  return (id) => select.all(storable(id)).map((found) => parseRecord(found).record);
}

export function prepareTags(database: Database): (owner: PrincipalId) => TagCount[] {
  const select = database.prepare<TagCount, [string]>(`
    SELECT value AS tag, count(*) AS sessions FROM sessions, json_each(tags)
    WHERE owner = ? AND tags <> '[]' AND archived = 0 AND ephemeral = 0
    GROUP BY value ORDER BY value`);
  return (owner) => select.all(storable(owner));
}
