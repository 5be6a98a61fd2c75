/** Summary of a run in a few lines. */
import type { Outcome } from './run.ts';

export type Percentiles = { readonly p50: number; readonly p95: number; readonly max: number };

export function spreadOf(values: readonly number[]): Percentiles {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  return { p50: at(0.5), p95: at(0.95), max: at(1) };
}

export function reportOf(seed: number, outcome: Outcome): string[] {
  const { kills, hits, times, evidence, violations } = outcome;
  const { sent, events, performed, shown, assembled, waited, pending } = evidence;
  const acknowledged = sent.filter((message) => message.acknowledged).length;
  const lost = violations.filter(({ rule }) => rule === 'lost').length;
  const unknown = [...events.values()]
    .flat()
    .filter((event) => event.type === 'tool.ended' && event.outcome === 'unknown').length;
  const resumed = [...events.values()].flat().filter((event) => event.type === 'turn.resumed').length;
  const aims = [...hits].map(([aim, count]) => `${aim} ${count}`).join(', ');
  const byDialect = Map.groupBy(sent, ({ dialect }) => dialect);
  const dialects = [...byDialect].map(([dialect, messages]) => `${dialect} ${messages.length}`).join(', ');
  return [
    `seed            ${seed}`,
    `kills           ${kills} (${aims})`,
    `messages        ${sent.length} sent, ${acknowledged} acknowledged, ${lost} lost (${dialects})`,
    `sessions        ${events.size}, ${resumed} turns resumed`,
    `texts           ${shown.length} shown as complete, ${assembled.length} assembled from deltas`,
    `side effects    ${performed.length} happened, ${unknown} outcomes reported as unknown`,
    `approvals       ${waited.length} left pending, ${pending.length} pending at the end`,
    ...times.map(
      ({ what, values }, index) =>
        `${index === 0 ? 'recovery' : '        '}        ${written(spreadOf(values))} (${what})`,
    ),
    `violations      ${violations.length}`,
    ...violations.map(({ rule, session, what }) => `  ${rule}: ${session} ${what}`),
  ];
}

const written = ({ p50, p95, max }: Percentiles): string => `p50 ${ms(p50)}, p95 ${ms(p95)}, max ${ms(max)}`;
const ms = (value: number): string => `${Math.round(value)} ms`;
