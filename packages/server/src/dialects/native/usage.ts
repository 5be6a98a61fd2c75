/** What model calls have used, and how much of the limits. */
import { amountText, type LimitUse, limitName } from '@parlance/protocol';
import { type UsageLabel, UsageQuery, type UsageReport } from '@parlance/protocol/api';
import { requirePermission, type UsageLabels, type UsageRow } from '../../core/index.ts';
import type { Sent } from '../kit/endpoint.ts';
import { endpoint } from './context.ts';

const COLUMNS = {
  day: 'day',
  user: 'owner',
  agent: 'agent',
  model: 'model',
  key: 'apiKey',
  task: 'task',
} as const satisfies Record<UsageLabel, keyof UsageLabels>;

export const usageEndpoints = [
  endpoint({
    method: 'get',
    path: '/v1/usage',
    summary:
      'What model calls have used, as sums by day, model and so on: of the caller; for admins, of everybody',
    changing: true,
    examples: ({ owner }) => [{}, { query: { by: 'day,model' } }, { query: { user: owner, format: 'csv' } }],
    query: UsageQuery,
    answers: {
      200: [
        { description: 'The sums, sorted by their labels', schema: 'UsageReport' },
        { description: 'The same with `format=csv`', type: 'text/csv' },
      ],
    },
    errors: [400, 401, 403],
    async handle({ principal, query }, { engine }) {
      requirePermission(principal, 'chat:read');
      const { by, limit, format, from, to, user, key, ...filter } = query;
      const { rows, ...days } = await engine.usage(principal, {
        filter: { ...filter, owner: user, apiKey: key, from, to },
        by: by.map((label) => COLUMNS[label]),
        limit: limit + 1,
      });
      const report: Sent<UsageReport> = {
        ...days,
        rows: rows.slice(0, limit).map((row) => rowView(row, by)),
        more: rows.length > limit,
      };
      return format === 'csv' ? csvAnswer(report, by) : report;
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/usage/limits',
    summary: 'The limits on money and tokens that apply to the caller, and how much of each is used',
    changing: true,
    answers: { 200: { description: 'The limits of the user and of the API key', schema: 'LimitUses' } },
    errors: [401, 403],
    async handle({ principal }, { engine }) {
      requirePermission(principal, 'chat:read');
      return { limits: (await engine.limits(principal)).map(limitView) };
    },
  }),
];

const limitView = (limit: LimitUse) => ({
  ...limit,
  text: `${amountText(limit.unit, limit.used)} of ${limitName(limit)}`,
});

function rowView(row: UsageRow, by: readonly UsageLabel[]) {
  const { calls, inputTokens, cachedTokens, outputTokens, reasoningTokens, cost, unpriced, estimated } = row;
  return {
    ...Object.fromEntries(by.map((label) => [label, row[COLUMNS[label]]])),
    calls,
    inputTokens,
    cachedTokens,
    outputTokens,
    reasoningTokens,
    dollars: cost / 1e6,
    unpricedCalls: unpriced,
    estimatedCalls: estimated,
  };
}

// CSV, as RFC 4180 has it.

const COUNTS = [
  'calls',
  'inputTokens',
  'cachedTokens',
  'outputTokens',
  'reasoningTokens',
  'dollars',
  'unpricedCalls',
  'estimatedCalls',
] as const;

function csvAnswer({ rows, from, to }: Sent<UsageReport>, by: readonly UsageLabel[]): Response {
  const lines = [
    [...by, ...COUNTS],
    ...rows.map((row) => [...by.map((label) => cell(row[label] ?? '')), ...COUNTS.map((name) => row[name])]),
  ];
  return new Response(lines.map((line) => `${line.join(',')}\r\n`).join(''), {
    headers: {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="usage-${from}-${to}.csv"`,
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    },
  });
}

/** Spreadsheets run what begins with one of these characters: anybody can name a model or an agent. */
const cell = (text: string): string => {
  const safe = /^[\s=+\-@]/.test(text) ? `'${text}` : text;
  return /[",\r\n']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};
