import { expect, test } from 'bun:test';
import { contextIn, use } from '../testing/tools/tool-context.ts';
import { updatePlan } from './update-plan.ts';

const step = (name: string, status: string) => ({ step: name, status });

test('a plan is recorded as data, and the model receives the progress', async () => {
  const steps = [step('look', 'completed'), step('change', 'in_progress'), step('test', 'pending')];
  expect(await use(updatePlan, { explanation: 'two are left', steps }, contextIn('/'))).toEqual({
    parts: [{ type: 'text', text: 'The plan is updated: 1 of 3 steps completed; in progress: change' }],
    data: { steps },
  });
  expect(await updatePlan.approval({ steps }, { root: '/' })).toBeNull();
});

test('a finished plan has no step in progress', async () => {
  const steps = [step('look', 'completed')];
  const { parts } = await use(updatePlan, { steps }, contextIn('/'));
  expect(parts).toEqual([{ type: 'text', text: 'The plan is updated: 1 of 1 steps completed' }]);
});

test.each([
  ['two steps in progress', { steps: [step('a', 'in_progress'), step('b', 'in_progress')] }],
  ['no step', { steps: [] }],
  ['a step without words', { steps: [step('  ', 'pending')] }],
  ['a status that is none', { steps: [step('a', 'done')] }],
  ['a step of 1 MB', { steps: [step('a'.repeat(1_000_000), 'pending')] }],
  ['a thousand steps', { steps: Array.from({ length: 1_000 }, () => step('a', 'pending')) }],
  ['steps that are text', { steps: 'first a, then b' }],
])('%s is refused', (_name, input) => {
  expect(updatePlan.input.safeParse(input).success).toBe(false);
});
