import { expect, test } from 'bun:test';
import type { DurableEvent, DurableEventBody, TurnId } from '@parlance/protocol';
import { startTask, stepTask, taskView } from './task.ts';

const TURN = 'turn-1' as TurnId;
const USAGE = { inputTokens: 10, outputTokens: 5 };
const events = (...bodies: object[]): DurableEvent[] =>
  bodies.map(
    (body, index) =>
      ({ session: 's', id: `id-${index}`, at: 0, seq: index + 1, turn: TURN, ...body }) as never,
  );
const taskOf = (all: readonly DurableEvent[], turn: TurnId) =>
  taskView(all.reduce(stepTask, startTask(turn)));
const call = (id: string, tool: string, input: object) => ({ type: 'call.requested', call: id, tool, input });
const ended = (id: string, more: Partial<DurableEventBody<'tool.ended'>> = {}) => ({
  type: 'tool.ended',
  call: id,
  outcome: 'ok',
  parts: [],
  durationMs: 0,
  ...more,
});
const plan = [
  call('p', 'browser_plan', {
    steps: [{ description: 'Type' }, { description: 'Submit', toolType: 'MIXED' }],
  }),
  { type: 'step.ended', usage: USAGE, stop: 'calls' },
  ended('p'),
];
const act = (id: string, action: string, step?: number) => [
  call(id, 'browser_act', { thought: `I will ${action}`, action, ...(step === undefined ? {} : { step }) }),
  { type: 'call.deferred', call: id },
];

test('the plan, the step and the action agree', () => {
  const task = taskOf(events(...plan, ...act('a', 'setValue(1, "tea")', 0)), TURN);
  expect(task).toMatchObject({
    status: 'executing',
    action: 'setValue(1, "tea")',
    thought: 'I will setValue(1, "tea")',
  });
  expect(task.plan?.steps.map((step) => step.status)).toEqual(['active', 'pending']);
  expect(task.plan?.steps[1]).toMatchObject({ id: 'step_1', index: 1, toolType: 'MIXED' });
  expect(task.usage).toEqual({ promptTokens: 10, completionTokens: 5 });
});

test('a successful action completes its step; a failed one is being corrected', () => {
  const worked = ended('a', { data: { verification: { success: true, confidence: 1, reason: 'ok' } } });
  const next = taskOf(
    events(...plan, ...act('a', 'setValue(1, "tea")', 0), worked, ...act('b', 'click(2)', 1)),
    TURN,
  );
  expect(next.plan?.steps.map((step) => step.status)).toEqual(['completed', 'active']);
  const broke = ended('a', {
    outcome: 'failed',
    data: { verification: { success: false, confidence: 1, reason: 'no' } },
  });
  const again = taskOf(events(...plan, ...act('a', 'click(9)', 0), broke, ...act('b', 'click(2)', 0)), TURN);
  expect(again.status).toBe('correcting');
  expect(again.plan?.currentStepIndex).toBe(0);
});

test('a question is for the user', () => {
  const asks = [
    call('q', 'browser_ask', { question: 'Which one?', missing: ['colour'] }),
    { type: 'call.deferred', call: 'q' },
  ];
  const task = taskOf(events(...asks), TURN);
  expect(task.status).toBe('needs_user_input');
  expect(task.question).toEqual({
    userQuestion: 'Which one?',
    missingInformation: ['colour'],
    reasoning: 'Which one?',
  });
});

test('a task ends with the result of the model, the turn or a fault', () => {
  const finish = (outcome: 'ok' | 'failed') =>
    ended('f', { outcome, final: true, parts: [{ type: 'text', text: 'It costs 5.' }] });
  const over = { type: 'turn.ended', usage: USAGE, durationMs: 1, context: {} };
  const call_ = call('f', 'browser_finish', {});
  expect(taskOf(events(...plan, call_, finish('ok'), over), TURN)).toMatchObject({
    status: 'completed',
    action: 'finish()',
    thought: 'It costs 5.',
  });
  const failed = taskOf(events(...plan, call_, finish('failed'), over), TURN);
  expect(failed).toMatchObject({ status: 'failed', action: 'fail()' });
  expect(failed.plan?.steps.map((step) => step.status)).toEqual(['failed', 'pending']);
  const answer = { type: 'text.ended', block: 'b', text: 'Paris.' };
  expect(taskOf(events(answer, over), TURN)).toMatchObject({
    status: 'completed',
    thought: 'Paris.',
    action: 'finish()',
  });
  const fault = { type: 'turn.failed', fault: { code: 'internal', message: 'Broken.' }, durationMs: 0 };
  expect(taskOf(events(fault), TURN)).toMatchObject({
    status: 'failed',
    action: 'fail()',
    thought: 'Broken.',
  });
});
