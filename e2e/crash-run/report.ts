/** Summary of a run in a few lines, with one line per kind of fault. */
import type { Violation } from './checker.ts';
import type { Evidence } from './evidence.ts';
import { type FaultLog, recoveriesOf } from './fault-log.ts';
import type { Outcome } from './run.ts';

export type Percentiles = { readonly p50: number; readonly p95: number; readonly max: number };

export function spreadOf(values: readonly number[]): Percentiles {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  return { p50: at(0.5), p95: at(0.95), max: at(1) };
}

export function reportOf(seed: number, outcome: Outcome): string[] {
  const { faults, times, evidence, violations } = outcome;
  const { sent, events, performed, shown, assembled, waited, pending } = evidence;
  const acknowledged = sent.filter((message) => message.acknowledged).length;
  const lost = violations.filter(({ rule }) => rule === 'lost').length;
  const unknown = [...events.values()]
    .flat()
    .filter((event) => event.type === 'tool.ended' && event.outcome === 'unknown').length;
  const resumed = [...events.values()].flat().filter((event) => event.type === 'turn.resumed').length;
  const byDialect = Map.groupBy(sent, ({ dialect }) => dialect);
  const dialects = [...byDialect].map(([dialect, messages]) => `${dialect} ${messages.length}`).join(', ');
  return [
    `seed            ${seed}`,
    `messages        ${sent.length} sent, ${acknowledged} acknowledged, ${lost} lost (${dialects})`,
    `sessions        ${events.size}, ${resumed} turns resumed`,
    `texts           ${shown.length} shown as complete, ${assembled.length} assembled from deltas`,
    `side effects    ${performed.length} happened, ${unknown} outcomes reported as unknown`,
    `approvals       ${waited.length} left pending, ${pending.length} pending at the end`,
    ...times.map(
      ({ what, values }, index) =>
        `${index === 0 ? 'recovery' : '        '}        ${written(spreadOf(values))} (${what})`,
    ),
    '',
    ...faultTable(faults, evidence, violations),
    '',
    `violations      ${violations.length}`,
    ...violations.map(({ rule, session, what }) => `  ${rule}: ${session} ${what}`),
  ];
}

const HEADINGS = [
  'fault',
  'count',
  'acknowledged',
  'lost',
  'violations',
  'recovery p50 / p95',
  'turns resumed p50 / p95',
];

/**
 * A message counts for the fault that was repaired first after its acknowledgement, and a violation for the
 * fault of the last message of its session.
 */
function faultTable(log: FaultLog, { sent, events }: Evidence, violations: readonly Violation[]): string[] {
  const kindAt = (time: number) =>
    Number.isFinite(time) ? (log.after(time) ?? log.faults.at(-1))?.kind : undefined;
  const timeOf = ({ session, what }: Violation): number => {
    const own = sent.filter((message) => message.session === session);
    const named = own.filter(({ text }) => what.includes(text));
    return Math.max(...(named.length > 0 ? named : own).map(({ acknowledgedAt = 0 }) => acknowledgedAt));
  };
  const acknowledged = Map.groupBy(
    sent.flatMap(({ acknowledgedAt }) => acknowledgedAt ?? []),
    kindAt,
  );
  const violated = Map.groupBy(violations, (violation) => kindAt(timeOf(violation)));
  const resumptions = Map.groupBy(
    log.resumptions(events.values(), { alone: true }),
    ({ fault }) => fault.kind,
  );
  const rows = [...Map.groupBy(log.faults, ({ kind }) => kind)].map(([kind, faults]) => {
    const own = violated.get(kind) ?? [];
    const lost = own.filter(({ rule }) => rule === 'lost').length;
    const counts = [faults.length, acknowledged.get(kind)?.length ?? 0, lost, own.length];
    const resumed = (resumptions.get(kind) ?? []).map(({ ms }) => ms);
    return [kind, ...counts.map(String), halves(recoveriesOf(faults)), halves(resumed)];
  });
  const table = [HEADINGS, ...rows.sort(([one = ''], [other = '']) => one.localeCompare(other))];
  const widths = HEADINGS.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  return table.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  '),
  );
}

function halves(values: readonly number[]): string {
  const { p50, p95 } = spreadOf(values);
  return values.length === 0 ? '-' : `${Math.round(p50)} / ${ms(p95)}`;
}

const written = ({ p50, p95, max }: Percentiles): string => `p50 ${ms(p50)}, p95 ${ms(p95)}, max ${ms(max)}`;
const ms = (value: number): string => `${Math.round(value)} ms`;
