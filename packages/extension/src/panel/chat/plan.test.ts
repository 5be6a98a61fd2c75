import { expect, test } from 'bun:test';
import type { JsonObject } from '@parlance/protocol';
import { EMPTY, type SessionView } from '@parlance/sdk';
import { planOf } from './plan.ts';

type Outcome = 'ok' | 'failed' | 'open';

const call = (tool: string, input: JsonObject, outcome: Outcome) => ({
  kind: 'call',
  call: tool,
  tool,
  input,
  approval: null,
  at: 1,
  seqs: [1],
  state:
    outcome === 'open'
      ? { phase: 'deferred' }
      : {
          phase: 'ended',
          outcome,
          parts: [],
          durationMs: 1,
          untrusted: false,
          final: tool === 'browser_finish',
        },
});

const PLAN = call(
  'browser_plan',
  { steps: ['One', 'Two', 'Three'].map((description) => ({ description })) },
  'ok',
);
const act = (step: number | undefined, outcome: Outcome) =>
  call('browser_act', step === undefined ? {} : { step }, outcome);
const finish = (outcome: Outcome) => call('browser_finish', {}, outcome);

const statuses = (status: 'running' | 'ended' | 'cancelled', ...items: object[]): string | undefined => {
  const turn = { kind: 'turn', turn: 't', items, state: { status } };
  return planOf({ ...EMPTY, entries: [turn] } as unknown as SessionView)
    ?.map((step) => step.status[0])
    .join('');
};

test('the stepper follows the numbered actions of a task', () => {
  expect(statuses('running')).toBeUndefined();
  expect(statuses('running', PLAN)).toBe('app');
  expect(statuses('running', PLAN, act(0, 'ok'), act(1, 'open'))).toBe('cap');
  expect(statuses('running', PLAN, act(0, 'ok'), act(1, 'failed'), act(1, 'open'))).toBe('cap');
  expect(statuses('ended', PLAN, act(0, 'ok'), act(2, 'ok'), finish('ok'))).toBe('ccc');
});

test('without numbers, each action that worked is a step', () => {
  expect(statuses('running', PLAN, act(undefined, 'ok'), act(undefined, 'failed'))).toBe('cap');
  expect(statuses('running', PLAN, act(undefined, 'ok'), act(undefined, 'ok'), act(undefined, 'ok'))).toBe(
    'cca',
  );
});

test('a task that failed or was stopped shows where', () => {
  expect(statuses('ended', PLAN, act(0, 'ok'), act(1, 'failed'), finish('failed'))).toBe('cfp');
  expect(statuses('ended', PLAN, act(0, 'ok'), finish('failed'))).toBe('cfp');
  expect(statuses('cancelled', PLAN, act(0, 'ok'), act(1, 'open'))).toBe('cfp');
});
