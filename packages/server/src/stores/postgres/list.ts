import type { SessionPage, SessionQuery } from '../../core/ports/event-store.ts';
import { decodeCursor, encodeCursor } from '../shared/cursor.ts';
import { rowLimit } from '../shared/limit.ts';
import { conditionsOf, Values, whereOf } from './conditions.ts';
import type { Statements } from './database.ts';
import { parseRecord, SELECT_RECORD } from './record.ts';

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
