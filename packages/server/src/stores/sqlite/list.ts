import type { Database, Statement } from 'bun:sqlite';
import type { SessionFilter, SessionPage } from '../../core/ports/store.ts';
import { decodeCursor, encodeCursor } from '../rules/cursor.ts';
import { rowLimit } from '../rules/limit.ts';
import { storable } from '../rules/text.ts';
import { parseRecord, SELECT_RECORD } from './record.ts';

type Values = Record<string, string | number>;

/** Each combination of filters is a statement of its own, made when it is first asked for: so each finds its index. */
export function prepareList(database: Database): (filter: SessionFilter) => SessionPage {
  const statements = new Map<string, Statement<unknown, [Values]>>();

  function statementFor(where: string): Statement<unknown, [Values]> {
    const known = statements.get(where);
    if (known) return known;
    const made = database.prepare<unknown, [Values]>(
      `${SELECT_RECORD} ${where} ORDER BY updated_at DESC, row DESC LIMIT $limit`,
    );
    statements.set(where, made);
    return made;
  }

  return (filter) => {
    const limit = rowLimit(filter.limit);
    const { where, values } = conditionsOf(filter);
    // one more than is wanted tells whether there is a next page
    const found = statementFor(where)
      .all({ ...values, limit: limit + 1 })
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

function conditionsOf({ owner, domain, status, cursor }: SessionFilter): { where: string; values: Values } {
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
  if (cursor !== undefined) {
    const { updatedAt, row } = decodeCursor(cursor);
    conditions.push('(updated_at, row) < ($updatedAt, $row)');
    values.updatedAt = updatedAt;
    values.row = row;
  }
  return { where: conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '', values };
}
