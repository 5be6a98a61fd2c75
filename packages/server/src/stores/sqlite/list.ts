import type { Database, Statement } from 'bun:sqlite';
import type { SessionPage, SessionQuery } from '../../core/ports/store.ts';
import { decodeCursor, encodeCursor } from '../rules/cursor.ts';
import { rowLimit } from '../rules/limit.ts';
import { conditionsOf, type Values, whereOf } from './conditions.ts';
import { parseRecord, SELECT_RECORD } from './record.ts';

/** Each combination of filters is a statement of its own, made when it is first asked for: so each finds its index. */
export function prepareList(database: Database): (query: SessionQuery) => SessionPage {
  const statements = new Map<string, Statement<unknown, [Values]>>();

  function statementFor(where: string): Statement<unknown, [Values]> {
    const known = statements.get(where);
    if (known) return known;
    const made = database.prepare<unknown, [Values]>(
      `${SELECT_RECORD} ${where} ORDER BY updated_at DESC, row DESC LIMIT $limit OFFSET $offset`,
    );
    statements.set(where, made);
    return made;
  }

  return (query) => {
    const limit = rowLimit(query.limit);
    const { conditions, values } = conditionsOf(query);
    if (query.cursor !== undefined) {
      conditions.push('(updated_at, row) < ($updatedAt, $row)');
      Object.assign(values, decodeCursor(query.cursor));
    }
    // one more than is wanted tells whether there is a next page
    const found = statementFor(whereOf(conditions))
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
