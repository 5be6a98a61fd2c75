import type { SessionFilter } from '../../core/ports/event-store.ts';
import { conditionsOf, Values, whereOf } from './conditions.ts';
import type { Statements } from './database.ts';

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
