import { expect, test } from 'bun:test';
import type { TaskRecord } from '../../shared/records.ts';
import { afterResponse } from './records.ts';

const TASK: TaskRecord = {
  id: 'key',
  session: 'session',
  tab: 1,
  opened: [],
  allowed: [],
  query: 'click Send',
  taskId: 'task',
  actionCount: 3,
  plan: null,
  state: { phase: 'reporting', action: 'click(1)', report: {} },
  problem: 'Cannot reach the server.',
};

test('an action is to be carried out, and its number is remembered', () => {
  const response = { taskId: 'other', action: 'click(2)', thought: 'Why', metrics: { actionCount: 4 } };
  expect(afterResponse(TASK, response)).toEqual({
    taskId: 'other',
    actionCount: 4,
    plan: null,
    state: { phase: 'acting', action: 'click(2)', thought: 'Why', begun: false },
    problem: null,
  });
});

test('finish and fail end the task; so does a response without an action', () => {
  const end = (response: object) => afterResponse(TASK, response).state;
  expect(end({ action: 'finish()', status: 'completed', thought: 'Done' })).toMatchObject({
    outcome: 'completed',
  });
  expect(end({ action: 'finish()', status: 'failed' })).toMatchObject({ outcome: 'failed' });
  expect(end({ action: 'fail()', thought: 'No' })).toMatchObject({ outcome: 'failed', message: 'No' });
  expect(end({})).toMatchObject({ phase: 'ended', outcome: 'failed' });
});

test('a question waits for the person, and a page that came without its text is sent again', () => {
  const asked = { status: 'needs_user_input', userQuestion: 'Which?', missingInformation: ['field'] };
  expect(afterResponse(TASK, asked).state).toEqual({
    phase: 'question',
    question: 'Which?',
    missing: ['field'],
  });
  expect(afterResponse(TASK, { status: 'needs_full_dom' }).state.phase).toBe('reporting');
  expect(afterResponse(TASK, asked).actionCount).toBe(3);
});
