import type { SessionFilter } from '../../core/ports/event-store.ts';
import { conditionsOf, Values, whereOf } from './conditions.ts';
import type { Statements } from './database.ts';

const counting =
  (select: (where: string) => string) =>
  (database: Statements) =>
  async ({ status, ...filter }: SessionFilter): Promise<number> => {
    const values = new Values();
    const conditions = conditionsOf(filter, values);
    if (status) conditions.push(`status IN (${status.map((one) => values.add(one)).join(', ') || 'NULL'})`);
    const [found] = await database.query(select(whereOf(conditions)), values.list);
    return Number(found?.count ?? 0);
  };

export const prepareCount = counting((where) => `SELECT count(*) AS count FROM sessions ${where}`);

export const prepareCountTurns = counting(
  (where) => `
    SELECT count(*) AS count FROM (SELECT row FROM sessions ${where}) AS wanted
      JOIN lookups ON lookups.session = wanted.row AND lookups.kind = 'turn'`,
);
