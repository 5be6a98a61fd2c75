/** What models have used: by day, and by model, agent, user, task and API key. */
import type { CallOptions, UsageLabel, UsageRow } from '@parlance/sdk';
import { counted, dollars, shortNumber } from '@parlance/ui/chat/cost.ts';
import { attempt, Button, download, Empty, Select } from '@parlance/ui/components/controls.tsx';
import { parlance, useServer } from '@parlance/ui/state/server.ts';
import { useCallback, useMemo, useState } from 'react';
import { usePolled } from '../../state/use-polled.ts';
import { Columns, Section } from './section.tsx';

const PERIODS = {
  month: 'This month',
  last: 'Last month',
  week: 'Last 7 days',
  quarter: 'Last 90 days',
} as const;
type Period = keyof typeof PERIODS;

const MEASURES = {
  dollars: { label: 'Cost', of: ({ dollars }: Sums) => dollars, text: (value: number) => dollars(value) },
  tokens: {
    label: 'Tokens',
    of: ({ inputTokens, outputTokens }: Sums) => inputTokens + outputTokens,
    text: shortNumber,
  },
  calls: { label: 'Calls', of: ({ calls }: Sums) => calls, text: shortNumber },
} as const;
type Measure = keyof typeof MEASURES;

const TITLES = {
  model: 'By model',
  agent: 'By agent',
  user: 'By user',
  task: 'By task',
  key: 'By API key',
} as const satisfies Partial<Record<UsageLabel, string>>;
type Label = keyof typeof TITLES;
const LABELS = Object.keys(TITLES) as Label[];
const EVERY_LABEL: readonly UsageLabel[] = ['day', ...LABELS];

const TASKS: Readonly<Record<string, string>> = {
  chat: 'Answers',
  title: 'Titles',
  compaction: 'Compaction',
  explanation: 'Explanations',
  summary: 'Summaries',
  sampling: 'Requests of tools',
};

/** The most that one request answers. */
const MOST_ROWS = 10_000;

export function UsageSection() {
  const about = useServer();
  const [period, setPeriod] = useState<Period>('month');
  const [measure, setMeasure] = useState<Measure>('dollars');
  const range = useMemo(() => rangeOf(period, Date.now()), [period]);
  const ask = useCallback(
    async ({ signal }: CallOptions) => {
      const rows = async (label: UsageLabel) =>
        (await parlance.usage.report({ ...range, by: [label], limit: MOST_ROWS, signal })).rows;
      const [days, ...groups] = await Promise.all([rows('day'), ...LABELS.map(rows)]);
      return { range, days, groups: LABELS.map((label, index) => ({ label, rows: groups[index] ?? [] })) };
    },
    [range],
  );
  const polled = usePolled(ask);

  /** Everything, for spreadsheets. */
  const save = () =>
    attempt(async () => {
      const csv = await parlance.usage.csv({ ...range, by: EVERY_LABEL, limit: MOST_ROWS });
      download(`usage-${range.from}-${range.to}.csv`, new Blob([csv], { type: 'text/csv' }));
    });

  const nameOf = (label: Label, value: string): string => {
    if (label === 'agent') return about.agents.find(({ id }) => id === value)?.name ?? value;
    if (label === 'task') return TASKS[value] ?? value;
    return value;
  };

  return (
    <Section
      title="Usage"
      polled={polled}
      actions={
        <Button icon="download" onClick={() => void save()}>
          Download CSV
        </Button>
      }
    >
      {({ range: shown, days, groups }) => {
        const total = sumOf(days);
        return (
          <>
            <div className="usage-choices">
              <Select
                label="Period"
                value={period}
                options={Object.entries(PERIODS)}
                onChange={({ target }) => setPeriod(target.value as Period)}
              />
              <Select
                label="Show"
                value={measure}
                options={Object.entries(MEASURES).map(([name, { label }]) => [name, label])}
                onChange={({ target }) => setMeasure(target.value as Measure)}
              />
            </div>
            {total.calls === 0 ? (
              <Empty title="No usage">
                No model was called from {shown.from} to {shown.to}.
              </Empty>
            ) : (
              <>
                <Totals total={total} />
                <Days days={daysOf(days, shown)} measure={measure} />
                <div className="usage-groups">
                  {groups
                    .filter(({ label, rows }) => isTelling(label, rows, about.principal.role === 'admin'))
                    .map(({ label, rows }) => (
                      <Group
                        key={label}
                        title={TITLES[label]}
                        measure={measure}
                        entries={topOf(
                          rows.map((row) => ({ ...row, name: nameOf(label, row[label] ?? '') || 'none' })),
                          measure,
                        )}
                      />
                    ))}
                </div>
                <p className="hint">
                  Days and months are in UTC. The cost is at the price that the model had at the time of the
                  call.
                </p>
              </>
            )}
          </>
        );
      }}
    </Section>
  );
}

/** A group of one entry tells nothing, but which model it was. */
const isTelling = (label: Label, rows: readonly UsageRow[], isAdmin: boolean): boolean => {
  switch (label) {
    case 'model':
    case 'agent':
      return true;
    case 'user':
      return isAdmin;
    case 'task':
    case 'key':
      return rows.length > 1;
  }
};

function Totals({ total }: { total: Sums }) {
  const { inputTokens, cachedTokens, outputTokens, calls, unpricedCalls, estimatedCalls } = total;
  const cached = cachedTokens > 0 ? `, ${shortNumber(cachedTokens)} of them cached` : '';
  return (
    <>
      <dl className="usage-totals">
        <div>
          <dt>Cost</dt>
          <dd>{dollars(total.dollars)}</dd>
        </div>
        <div>
          <dt>Tokens</dt>
          <dd>{shortNumber(inputTokens + outputTokens)}</dd>
        </div>
        <div>
          <dt>Calls</dt>
          <dd>{calls.toLocaleString('en')}</dd>
        </div>
      </dl>
      <p className="hint">
        {shortNumber(inputTokens)} tokens of input{cached}, and {shortNumber(outputTokens)} of output.
        {unpricedCalls > 0 &&
          ` ${counted(unpricedCalls, 'call')} of models without a price cost nothing here.`}
        {estimatedCalls > 0 && ` Broken off, and counted by estimate: ${counted(estimatedCalls, 'answer')}.`}
      </p>
    </>
  );
}

const BAR = 10;
const GAP = 2;
const HEIGHT = 90;

type DaysProps = { readonly days: readonly Day[]; readonly measure: Measure };

function Days({ days, measure }: DaysProps) {
  const { label, of, text } = MEASURES[measure];
  const most = Math.max(...days.map(of));
  const highest = days.find((day) => of(day) === most);
  const [first, latest] = [days[0]?.day ?? '', days.at(-1)?.day ?? ''];
  return (
    <figure className="card chart usage-days">
      <figcaption>
        <span>{label} by day</span>
        <strong>{text(days.reduce((sum, day) => sum + of(day), 0))}</strong>
      </figcaption>
      <svg
        viewBox={`0 0 ${days.length * BAR} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${label} by day from ${first} to ${latest}; the most is ${text(most)}${highest ? ` on ${highest.day}` : ''}`}
      >
        <path className="chart-floor" d={`M0 ${HEIGHT}H${days.length * BAR}`} />
        {days.map((day, index) => {
          const height = most > 0 ? (of(day) / most) * HEIGHT : 0;
          return (
            <rect
              key={day.day}
              className="usage-bar"
              x={index * BAR + GAP / 2}
              width={BAR - GAP}
              y={HEIGHT - height}
              height={height}
            >
              <title>{`${day.day}: ${text(of(day))}`}</title>
            </rect>
          );
        })}
      </svg>
      <p className="chart-legend" aria-hidden="true">
        <span>{first}</span>
        <span>max {text(most)}</span>
        <span>{latest}</span>
      </p>
      <details className="usage-table">
        <summary>As a table</summary>
        <div className="admin-table">
          <table>
            <Columns names={['Day', 'Cost', 'Tokens', 'Calls']} />
            <tbody>
              {days
                .filter(({ calls }) => calls > 0)
                .map((day) => (
                  <tr key={day.day}>
                    <th scope="row">{day.day}</th>
                    <td>{dollars(day.dollars)}</td>
                    <td>{(day.inputTokens + day.outputTokens).toLocaleString('en')}</td>
                    <td>{day.calls.toLocaleString('en')}</td>
                  </tr>
                ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}

type GroupProps = {
  readonly title: string;
  readonly entries: readonly (Sums & { readonly name: string })[];
  readonly measure: Measure;
};

function Group({ title, entries, measure }: GroupProps) {
  const { of, text } = MEASURES[measure];
  const most = Math.max(...entries.map(of), 0);
  return (
    <section className="card usage-group" aria-label={title}>
      <h3>{title}</h3>
      <ul>
        {entries.map((entry) => (
          <li key={entry.name}>
            <span className="usage-name">{entry.name}</span>
            <span className="usage-value">{text(of(entry))}</span>
            <svg width="100%" height="4" aria-hidden="true">
              <rect
                className="usage-bar"
                width={`${most > 0 ? (of(entry) / most) * 100 : 0}%`}
                height="4"
                rx="2"
              />
            </svg>
          </li>
        ))}
      </ul>
    </section>
  );
}

// What the charts show. Pure.

type Sums = Pick<
  UsageRow,
  'calls' | 'inputTokens' | 'cachedTokens' | 'outputTokens' | 'dollars' | 'unpricedCalls' | 'estimatedCalls'
>;
type Day = Sums & { readonly day: string };
type Range = { readonly from: string; readonly to: string };

const NOTHING: Sums = {
  calls: 0,
  inputTokens: 0,
  cachedTokens: 0,
  outputTokens: 0,
  dollars: 0,
  unpricedCalls: 0,
  estimatedCalls: 0,
};

export const sumOf = (rows: readonly Sums[]): Sums =>
  rows.reduce<Sums>(
    (sum, row) =>
      Object.fromEntries(
        Object.keys(NOTHING).map((name) => [name, sum[name as keyof Sums] + row[name as keyof Sums]]),
      ) as Sums,
    NOTHING,
  );

const DAY_MS = 86_400_000;
const dayAt = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** First and last day of the period, in UTC. */
export function rangeOf(period: Period, now: number): Range {
  const to = dayAt(now);
  const date = new Date(now);
  const firstOf = (month: number) => Date.UTC(date.getUTCFullYear(), month, 1);
  switch (period) {
    case 'month':
      return { from: dayAt(firstOf(date.getUTCMonth())), to };
    case 'last':
      return {
        from: dayAt(firstOf(date.getUTCMonth() - 1)),
        to: dayAt(firstOf(date.getUTCMonth()) - DAY_MS),
      };
    case 'week':
      return { from: dayAt(now - 6 * DAY_MS), to };
    case 'quarter':
      return { from: dayAt(now - 89 * DAY_MS), to };
  }
}

/** Every day of the range, also those without usage. */
export function daysOf(rows: readonly UsageRow[], { from, to }: Range): Day[] {
  const known = new Map(rows.map((row) => [row.day, row]));
  const days: Day[] = [];
  for (let at = Date.parse(from); at <= Date.parse(to); at += DAY_MS) {
    const day = dayAt(at);
    days.push({ ...NOTHING, ...known.get(day), day });
  }
  return days;
}

const SHOWN = 8;

/** The largest entries, and the sum of all others. */
export function topOf<Entry extends Sums & { readonly name: string }>(
  entries: readonly Entry[],
  measure: Measure,
): readonly (Sums & { readonly name: string })[] {
  const { of } = MEASURES[measure];
  const sorted = entries.toSorted((one, other) => of(other) - of(one) || other.calls - one.calls);
  if (sorted.length <= SHOWN) return sorted;
  const others = sorted.slice(SHOWN - 1);
  return [
    ...sorted.slice(0, SHOWN - 1),
    { ...sumOf(others), name: `${others.length.toLocaleString('en')} others` },
  ];
}
