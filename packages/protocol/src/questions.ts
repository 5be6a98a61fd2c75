/** Questions to the user, and their answers. */
import { z } from 'zod';
import { CallId, QuestionId, TurnId } from './ids.ts';
import { JsonValue } from './json.ts';

export const QuestionItem = z.object({
  /** unique within its question */
  id: z.string(),
  /** one to three words, as a label */
  header: z.string(),
  text: z.string(),
  options: z.array(z.object({ label: z.string(), description: z.string().optional() })),
  /** whether several options may be chosen */
  multiple: z.boolean(),
  /** whether the user may answer in their own words */
  freeText: z.boolean(),
  /** what an empty answer stands for */
  default: z.array(z.string()).optional(),
  /** without a default, an empty answer is accepted */
  optional: z.boolean().optional(),
  /** what a free text must be */
  format: z.enum(['number', 'integer', 'email', 'uri', 'date', 'date-time']).optional(),
  /** bounds of a number, of the length of another free text, or of the number of chosen options */
  min: z.number().optional(),
  max: z.number().optional(),
  /** an address to open before answering; the text has it too, and no client opens it by itself */
  link: z.url({ protocol: /^https?$/ }).optional(),
});
export type QuestionItem = z.infer<typeof QuestionItem>;

/**
 * Who asks. `tool`: the agent. `elicitation`: an MCP server, during a call. `limit`: a limit of spending. `instructions`:
 * whether files of a project are instructions. `merge`: whether work of a sub-agent is merged.
 */
export const QuestionPurpose = z.enum(['tool', 'elicitation', 'limit', 'instructions', 'merge']);
export type QuestionPurpose = z.infer<typeof QuestionPurpose>;

/** What is asked. A question belongs to a turn, and to one of its calls if it has one. */
export const QUESTION = {
  turn: TurnId,
  question: QuestionId,
  call: CallId.optional(),
  purpose: QuestionPurpose,
  title: z.string().optional(),
  questions: z.array(QuestionItem).min(1),
  /** an answer needs the permission to approve */
  requires: z.literal('approve').optional(),
  /** the names of the sub-agents that lead to the one that asks */
  path: z.array(z.string()).optional(),
  /** data of the part of the server that asks; not shown */
  data: z.record(z.string(), JsonValue).optional(),
} satisfies z.ZodRawShape;
const Question = z.object(QUESTION);
export type Question = z.infer<typeof Question>;
/** A question that has no id yet. */
export type QuestionContent = Omit<Question, 'turn' | 'question' | 'call'>;

/** By id of the item: labels of the chosen options, and free text. */
export const Answers = z.record(z.string().max(100), z.array(z.string().max(10_000)).max(50));
export type Answers = z.infer<typeof Answers>;

/** How a question ended. `withdrawn`: nobody waits for the answer any more. */
export const QuestionOutcome = z.enum(['answered', 'declined', 'withdrawn']);
export type QuestionOutcome = z.infer<typeof QuestionOutcome>;
