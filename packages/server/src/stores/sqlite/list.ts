import type { Database, Statement } from 'bun:sqlite';
import type { SessionPage, SessionQuery } from '../../core/ports/event-store.ts';
import { decodeCursor, encodeCursor } from '../shared/cursor.ts';
import { rowLimit } from '../shared/limit.ts';
import { conditionsOf, type Values, whereOf } from './conditions.ts';
import { parseRecord, SELECT_RECORD } from './record.ts';

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
