/** What model calls have used, by day: the table, what an append adds to it, and its sums, for both databases. */
import { z } from 'zod';
import type {
  UsageEntry,
  UsageFilter,
  UsageLabels,
  UsageRow,
  UsageStore,
} from '../../core/ports/event-store.ts';
import { Integer, type SharedDatabase, type Statement, Values } from './database.ts';
import { rowLimit } from './paging.ts';
import { storable } from './text.ts';

type ColumnTypes = { readonly key: string; readonly integer: string; readonly options: string };

/** Part of a migration of each database: never change it. */
export const usageTables = ({ key, integer, options }: ColumnTypes): string => `
  CREATE TABLE usage (
    owner ${key} NOT NULL,
    day ${key} NOT NULL,
    agent ${key} NOT NULL,
    model ${key} NOT NULL,
    -- empty: without one
    api_key ${key} NOT NULL,
    task ${key} NOT NULL,
    calls ${integer} NOT NULL,
    input_tokens ${integer} NOT NULL,
    cached_tokens ${integer} NOT NULL,
    output_tokens ${integer} NOT NULL,
    reasoning_tokens ${integer} NOT NULL,
    -- in millionths of a US dollar
    cost ${integer} NOT NULL,
    unpriced ${integer} NOT NULL,
    PRIMARY KEY (owner, day, agent, model, api_key, task)
  )${options};
  CREATE INDEX usage_by_day ON usage (day);
  CREATE INDEX usage_by_agent ON usage (agent, day);
  CREATE INDEX usage_by_api_key ON usage (api_key, day) WHERE api_key <> '';

  CREATE TABLE usage_claims (
    name ${key} PRIMARY KEY,
    day ${key} NOT NULL,
    claimed_by TEXT NOT NULL
  )${options};
  CREATE INDEX usage_claims_by_day ON usage_claims (day);`;

/** A later migration. Nodes of the release before count none. */
export const usageEstimated = ({ integer }: Pick<ColumnTypes, 'integer'>): string =>
  `ALTER TABLE usage ADD COLUMN estimated ${integer} NOT NULL DEFAULT 0`;

const LABELS = {
  owner: 'owner',
  day: 'day',
  agent: 'agent',
  model: 'model',
  apiKey: 'api_key',
  task: 'task',
} satisfies Record<keyof UsageLabels, string>;

const COUNTS = {
  calls: 'calls',
  inputTokens: 'input_tokens',
  cachedTokens: 'cached_tokens',
  outputTokens: 'output_tokens',
  reasoningTokens: 'reasoning_tokens',
  cost: 'cost',
  unpriced: 'unpriced',
  estimated: 'estimated',
};

export const USAGE_LABELS: readonly string[] = Object.values(LABELS);
export const USAGE_COUNTS: readonly string[] = Object.values(COUNTS);

/** Sums stop here instead of overflowing: an append must never fail because of what a vendor has counted. */
export const MOST_USAGE = 1_000_000_000_000_000;

/** The end of an INSERT into `usage`. */
export const ADD_USAGE = `ON CONFLICT (${['owner', 'day', 'agent', 'model', 'api_key', 'task'].join(', ')}) DO UPDATE SET
  ${USAGE_COUNTS.map(
    (column) =>
      `${column} = CASE WHEN usage.${column} > ${MOST_USAGE} THEN usage.${column} ELSE usage.${column} + excluded.${column} END`,
  ).join(', ')}`;

/** One entry per row of the table, as its columns, in the order in which all nodes lock rows. */
export function usageRows(entries: readonly UsageEntry[]): Record<string, string | number>[] {
  const rows = new Map<string, Record<string, string | number>>();
  for (const entry of entries) {
    const labels = Object.entries(LABELS).map(([name, column]) => [
      column,
      storable(entry[name as keyof typeof LABELS]),
    ]);
    const key = JSON.stringify(labels);
    const before = rows.get(key);
    const counts = Object.entries(COUNTS).map(([name, column]) => [
      column,
      Number(before?.[column] ?? 0) + entry[name as keyof typeof COUNTS],
    ]);
    rows.set(key, Object.fromEntries([...labels, ...counts]));
  }
  return [...rows].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row);
}

const Sums = z.object({
  calls: Integer,
  input_tokens: Integer,
  cached_tokens: Integer,
  output_tokens: Integer,
  reasoning_tokens: Integer,
  cost: Integer,
  unpriced: Integer,
  estimated: Integer,
});

/** Each row of a group may be as large as fits: not added up as integers. */
const sum = (column: string): string => `coalesce(sum(${column} * 1.0), 0) AS ${column}`;

export function usageQueries({ query, atomically }: SharedDatabase): UsageStore {
  function whereOf(filter: UsageFilter, values: Values): string {
    const { from, to, ...labels } = filter;
    const conditions = Object.entries(labels).flatMap(([name, value]) =>
      value === undefined ? [] : [`${LABELS[name as keyof typeof LABELS]} = ${values.add(storable(value))}`],
    );
    // The index of API keys leaves out calls without one.
    if (filter.apiKey) conditions.push("api_key <> ''");
    if (from !== undefined) conditions.push(`day >= ${values.add(from)}`);
    if (to !== undefined) conditions.push(`day <= ${values.add(to)}`);
    return conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';
  }

  return {
    add: (entries) =>
      atomically(function* () {
        for (const row of usageRows(entries)) yield insertUsage(row);
      }),

    async report(filter, by, limit) {
      const values = new Values();
      const columns = by.map((name) => LABELS[name]);
      const where = whereOf(filter, values);
      const group = columns.length > 0 ? `GROUP BY ${columns.join(', ')} ORDER BY ${columns.join(', ')}` : '';
      const rows = await query(
        `SELECT ${[...columns, ...USAGE_COUNTS.map(sum)].join(', ')} FROM usage ${where} ${group}
         LIMIT ${values.integer(rowLimit(limit))}`,
        values.list,
      );
      return rows.map((row): UsageRow => {
        const sums = Sums.parse(row);
        const counts = Object.entries(COUNTS).map(([name, column]) => [
          name,
          sums[column as keyof typeof sums],
        ]);
        return Object.fromEntries([
          ...by.map((name) => [name, String(row[LABELS[name]])] as const),
          ...counts,
        ]) as UsageRow;
      });
    },

    async spent(filter) {
      const values = new Values();
      const [row = {}] = await query(
        `SELECT ${['input_tokens', 'output_tokens', 'cost'].map(sum).join(', ')} FROM usage ${whereOf(filter, values)}`,
        values.list,
      );
      return { tokens: Number(row.input_tokens) + Number(row.output_tokens), cost: Number(row.cost) };
    },

    async claim(name, day, by) {
      await query(
        `INSERT INTO usage_claims (name, day, claimed_by) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING`,
        [storable(name), day, storable(by)],
      );
      const [row] = await query('SELECT claimed_by FROM usage_claims WHERE name = $1', [storable(name)]);
      return String(row?.claimed_by ?? by);
    },

    async prune(before) {
      await query('DELETE FROM usage WHERE day < $1', [before]);
      await query('DELETE FROM usage_claims WHERE day < $1', [before]);
    },
  };
}

export const insertUsage = (row: Readonly<Record<string, string | number>>): Statement => [
  `INSERT INTO usage (${Object.keys(row).join(', ')})
   VALUES (${Object.keys(row)
     .map((_, index) => `$${index + 1}`)
     .join(', ')}) ${ADD_USAGE}`,
  Object.values(row),
];
