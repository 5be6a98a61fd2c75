/** `parlance usage`: what models have used. */
import { amountText } from '@parlance/protocol/spending';
import type { UsageLabel, UsageReport, UsageRow } from '@parlance/sdk';
import { CommandError, parseFlags, SWITCH, showUsage, TEXT } from '../command.ts';
import { noServer, SERVER_FLAGS, SERVER_HELP } from '../connection/address.ts';
import { connectionError, openRunning } from '../connection/open.ts';
import { columns } from '../terminal/layout.ts';
import { safeLine } from '../terminal/safe-text.ts';

const USAGE = `Usage: parlance usage

What models have used this month, and how much of your limits. Admins see the usage of everybody.

  --by LABELS    day, user, agent, model, key or task, separated by commas; model by default
  --from DATE    first day (UTC), such as 2026-01-31; the first of this month by default
  --to DATE      last day; today by default
  --user NAME, --agent ID, --model NAME, --key ID, --task TASK
                 only of this user, agent, model, API key or task
  --json         the report as JSON
  --csv          for spreadsheets

${SERVER_HELP}`;

const LABELS = ['day', 'user', 'agent', 'model', 'key', 'task'] as const satisfies readonly UsageLabel[];
const MOST = 10_000;

export async function usage(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseFlags(argv, {
    ...SERVER_FLAGS,
    by: TEXT,
    from: TEXT,
    to: TEXT,
    user: TEXT,
    agent: TEXT,
    model: TEXT,
    key: TEXT,
    task: TEXT,
    json: SWITCH,
    csv: SWITCH,
  });
  if (values.help) return showUsage(USAGE, true);
  if (positionals.length > 0) throw new CommandError(`usage takes no "${positionals[0]}"`, 2);
  if (values.json && values.csv) throw new CommandError('--json and --csv exclude each other', 2);
  const { from, to, user, agent, model, key, task } = values;
  const by = labelsFrom(values.by ?? 'model');
  const query = { by, from, to, user, agent, model, key, task, limit: MOST };
  const connection = await openRunning(values);
  if (!connection) throw noServer();
  const { parlance } = connection;
  try {
    if (values.csv) process.stdout.write(await parlance.usage.csv(query));
    else if (values.json) console.log(JSON.stringify(await parlance.usage.report(query), null, 2));
    else {
      console.log(reportText(await parlance.usage.report(query), by));
      for (const { text } of await parlance.usage.limits()) console.log(safeLine(text));
    }
  } catch (error) {
    throw connectionError(error, 'the server');
  } finally {
    await connection.close();
  }
  return 0;
}

function labelsFrom(text: string): UsageLabel[] {
  const names = text.split(',').filter((name) => name !== '');
  return names.map((name) => {
    const label = LABELS.find((one) => one === name);
    if (label) return label;
    throw new CommandError(`--by must be of ${LABELS.join(', ')}, not "${name}"`, 2);
  });
}

const SUMS = ['calls', 'inputTokens', 'outputTokens', 'dollars', 'unpricedCalls', 'estimatedCalls'] as const;

function reportText({ from, to, rows, more }: UsageReport, by: readonly UsageLabel[]): string {
  const period = `${from} to ${to} (UTC)`;
  if (rows.every(({ calls }) => calls === 0)) return `no model was called from ${period}`;
  const total = Object.fromEntries(
    SUMS.map((name) => [name, rows.reduce((sum, row) => sum + row[name], 0)]),
  ) as Pick<UsageRow, (typeof SUMS)[number]>;
  const cells = (row: Pick<UsageRow, (typeof SUMS)[number]>): string[] => [
    row.calls.toLocaleString('en'),
    row.inputTokens.toLocaleString('en'),
    row.outputTokens.toLocaleString('en'),
    amountText('dollars', row.dollars),
  ];
  const table = columns([
    [...by.map((name) => name.toUpperCase()), 'CALLS', 'INPUT', 'OUTPUT', 'COST'],
    ...rows.map((row) => [...by.map((name) => safeLine(row[name] ?? '') || '–'), ...cells(row)]),
    ...(by.length > 0 ? [[...by.map((_, index) => (index === 0 ? 'total' : '')), ...cells(total)]] : []),
  ]);
  const { unpricedCalls: unpriced, estimatedCalls: estimated } = total;
  return [
    period,
    table,
    ...(more ? [`The first ${rows.length.toLocaleString('en')} rows: choose fewer days.`] : []),
    ...(unpriced > 0 ? [`Without a price: ${unpriced.toLocaleString('en')} calls.`] : []),
    ...(estimated > 0 ? [`Broken off, by estimate: ${estimated.toLocaleString('en')} calls.`] : []),
  ].join('\n');
}
