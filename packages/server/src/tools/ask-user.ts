/** Asks the user up to four questions. The answer is the result of the call. */
import { z } from 'zod';
import { defineTool } from '../core/ports/tool.ts';

const unique = (labels: readonly string[]): boolean =>
  new Set(labels.map((label) => label.toLowerCase())).size === labels.length;

const Option = z.object({
  label: z.string().trim().min(1).max(100).describe('One to five words.'),
  description: z.string().trim().min(1).max(300).optional().describe('What the choice means.'),
});

const Item = z
  .object({
    header: z.string().trim().min(1).max(30).describe('A label of one to three words.'),
    question: z.string().trim().min(1).max(1_000),
    options: z
      .array(Option)
      .max(10)
      .refine((options) => unique(options.map(({ label }) => label)), { message: 'labels must differ' })
      .default([])
      .describe('The choices, the recommended one first. Without options the user writes a text.'),
    multiple: z.boolean().default(false).describe('Whether several options may be chosen.'),
    freeText: z.boolean().default(true).describe('Whether the user may answer in their own words.'),
    default: z.array(z.string().trim().min(1).max(1_000)).max(10).optional().describe('The usual answer.'),
  })
  .refine(({ options, freeText }) => freeText || options.length > 0, {
    message: 'needs options or freeText',
  })
  .refine(
    ({ default: usual = [], options, multiple, freeText }) =>
      (multiple || usual.length <= 1) &&
      (freeText || usual.every((value) => options.some(({ label }) => label === value))),
    { path: ['default'], message: 'must be a valid answer' },
  );

export const askUser = defineTool({
  name: 'ask_user',
  exclusive: 'always',
  description:
    'Asks the user for a decision or for information that you cannot find out yourself. The turn waits until they answer. Never use it to ask for permission to run a tool.',
  input: z.object({ questions: z.array(Item).min(1).max(4) }),
  approval: () => null,
  question: ({ questions }) => ({
    purpose: 'tool',
    questions: questions.map(({ question, ...item }, index) => ({
      ...item,
      id: String(index + 1),
      text: question,
    })),
  }),
  run: async () => ({ parts: [] }),
});
