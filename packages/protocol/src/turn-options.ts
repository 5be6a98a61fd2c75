/** Options of a caller for one turn: its own tools, instructions, and model options. */
import { z } from 'zod';
import { JsonValue } from './json.ts';

/** A tool that the caller executes: calls are deferred, and answered with `call.answer`. */
export const CallerTool = z.object({
  name: z.string().regex(/^[A-Za-z0-9_-]{1,128}$/, 'must have 1 to 128 letters, digits, - and _'),
  description: z.string().max(20_000).default(''),
  /** JSON Schema of the input */
  parameters: z.record(z.string(), JsonValue).default({}),
});
export type CallerTool = z.infer<typeof CallerTool>;

export const ReasoningEffort = z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']);
export type ReasoningEffort = z.infer<typeof ReasoningEffort>;

/** Providers send the options that their API supports, and omit the rest. */
export const ModelOptions = z.object({
  temperature: z.number().min(0).max(2).optional(),
  topP: z.number().min(0).max(1).optional(),
  maxOutputTokens: z.int().min(1).optional(),
  stop: z.array(z.string().min(1).max(1_000)).max(16).optional(),
  responseFormat: z
    .discriminatedUnion('type', [
      z.object({ type: z.literal('text') }),
      z.object({ type: z.literal('json') }),
      z.object({
        type: z.literal('json_schema'),
        name: z.string().max(64).optional(),
        schema: z.record(z.string(), JsonValue),
        strict: z.boolean().optional(),
      }),
    ])
    .optional(),
  reasoningEffort: ReasoningEffort.optional(),
  /** reasoning budget in tokens, for models that have one; 0: none */
  reasoningTokens: z.int().min(0).optional(),
  toolChoice: z
    .union([z.enum(['auto', 'none', 'required']), z.object({ tool: z.string().max(128) })])
    .optional(),
  parallelToolCalls: z.boolean().optional(),
});
export type ModelOptions = z.infer<typeof ModelOptions>;

/** Fields of `input.submit` and of the stored input. */
export const TURN_OPTIONS = {
  /** offered in addition to the agent's tools; the caller's tool wins if names are equal */
  tools: z.array(CallerTool).max(1_000).optional(),
  /** false: the agent's own tools are not offered */
  agentTools: z.boolean().optional(),
  /** replaces the instructions of the agent and the server; not part of the conversation */
  instructions: z.string().max(200_000).optional(),
  /**
   * appended to the instructions: describes what the caller's application shows; not part of the conversation
   */
  context: z.string().max(200_000).optional(),
  options: ModelOptions.optional(),
  /** the caller has named the model: another one of its chain answers only if the operator allows it */
  namesModel: z.boolean().optional(),
  /**
   * What happens if nobody has decided yet whether the instructions of the working folder may be used. `ask`: the turn
   * waits until a person has, if its sender may approve; by default, it continues without them.
   */
  project: z.enum(['ask']).optional(),
};
export const TurnOptions = z.object(TURN_OPTIONS);
export type TurnOptions = z.infer<typeof TurnOptions>;
const OPTION_NAMES = Object.keys(TURN_OPTIONS) as (keyof TurnOptions)[];

/** Picks the terms from a command or an event. */
export const turnOptionsOf = (from: TurnOptions): TurnOptions =>
  Object.fromEntries(OPTION_NAMES.map((name) => [name, from[name]])) as TurnOptions;

/** Fields of an answer that lets a turn continue, and of the stored answer. */
export const ANSWER_TERMS = {
  /** replaces the terms of the turn's input for the rest of the turn */
  terms: TurnOptions.optional(),
  /** data for programs about the request that brought the answer; not shown to the model */
  attributes: z.record(z.string(), JsonValue).optional(),
};
