/** Records the plan of the agent. Dialects show it from the call itself. */
import { textPart } from '@parlance/protocol';
import { z } from 'zod';
import { defineTool } from '../core/ports/tool.ts';

const Step = z.object({
  step: z.string().trim().min(1).max(500).describe('What is to be done, in a few words.'),
  status: z.enum(['pending', 'in_progress', 'completed']),
});

const Input = z.object({
  explanation: z.string().max(2_000).optional().describe('Why the plan is changed.'),
  steps: z
    .array(Step)
    .min(1)
    .max(50)
    .refine((steps) => steps.filter(({ status }) => status === 'in_progress').length <= 1, {
      message: 'must have at most one step in progress',
    })
    .describe('The whole plan, in order.'),
});
type Input = z.output<typeof Input>;

export const updatePlan = defineTool({
  name: 'update_plan',
  exclusive: 'always',
  description:
    'Shows the user the plan for a task with several steps. Pass the complete plan each time, with at most one step in progress.',
  input: Input,
  repeatable: true,
  approval: () => null,
  run: async ({ steps }) => ({ parts: [textPart(progressOf(steps))], data: { steps } }),
});

/** The model wrote the plan and does not need it again: only the progress is returned. */
function progressOf(steps: Input['steps']): string {
  const completed = steps.filter(({ status }) => status === 'completed').length;
  const current = steps.find(({ status }) => status === 'in_progress');
  const now = current ? `; in progress: ${current.step}` : '';
  return `The plan is updated: ${completed} of ${steps.length} steps completed${now}`;
}
