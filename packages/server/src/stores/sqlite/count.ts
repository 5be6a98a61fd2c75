import type { Database } from 'bun:sqlite';
import type { SessionFilter } from '../../core/ports/event-store.ts';
import { conditionsOf, whereOf } from './conditions.ts';

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
