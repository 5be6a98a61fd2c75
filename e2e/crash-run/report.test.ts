import { expect, test } from 'bun:test';
import type { DurableEvent } from '../../packages/protocol/src/index.ts';
import type { Evidence, Sent } from './evidence.ts';
import { FaultLog } from './fault-log.ts';
import { reportOf } from './report.ts';

const message = (text: string, acknowledgedAt?: number): Sent => ({
  session: 's',
  dialect: 'native',
  number: 1,
  text,
  acknowledged: acknowledgedAt !== undefined,
  ...(acknowledgedAt !== undefined && { acknowledgedAt }),
});

const resumed = (at: number) => ({ type: 'turn.resumed', at }) as DurableEvent;

const evidence = (sent: readonly Sent[], events: readonly DurableEvent[] = []): Evidence => ({
  sent,
  received: [],
  shown: [],
  assembled: [],
  waited: [],
  effects: [],
  performed: [],
  pending: [],
  errors: [],
  events: new Map([['s', events]]),
});

test('each kind of fault has a line with what was at stake, what was lost, and the time of its recovery', () => {
  const faults = new FaultLog(100);
  const [first, second] = [faults.begin('disk', 1_000), faults.begin('failover', 5_000)];
  Object.assign(first, { until: 2_000, acknowledged: 1_300 });
  Object.assign(second, { until: 6_000, acknowledged: 5_040 });
  const sent = [
    message('a', 500),
    message('b', 1_500),
    message('c', 2_500),
    message('d', 7_000),
    message('e'),
  ];
  const violations = [{ rule: 'lost', session: 's', what: 'c' } as const];
  const times = [{ what: 'in all', values: [] }];
  const read = evidence(sent, [resumed(1_700), resumed(5_600)]);
  const report = reportOf(1, { faults, times, evidence: read, violations });
  const lines = report.map((line) => line.trim().split(/ {2,}/));
  expect(lines).toContainEqual(['disk', '1', '2', '0', '0', '300 / 300 ms', '700 / 700 ms']);
  expect(lines).toContainEqual(['failover', '1', '2', '1', '1', '40 / 40 ms', '600 / 600 ms']);
});

test('a fault that was overtaken has no recovery time, and a client error belongs to no fault', () => {
  const faults = new FaultLog();
  faults.begin('kill (start)', 1_000);
  faults.overtake();
  faults.begin('kill (any)', 2_000);
  faults.acknowledged();
  const violations = [{ rule: 'client error', session: '', what: 'native: 500' } as const];
  const report = reportOf(1, { faults, times: [], evidence: evidence([]), violations });
  const lines = report.map((line) => line.trim().split(/ {2,}/));
  expect(lines).toContainEqual(['kill (start)', '1', '0', '0', '0', '-', '-']);
  expect(report).toContain('violations      1');
});
