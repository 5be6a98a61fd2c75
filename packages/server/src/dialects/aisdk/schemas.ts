/** Schemas of requests. Unknown fields and parts are ignored. */
import { CallerTool, JsonValue, SessionId } from '@parlance/protocol';
import { z } from 'zod';

const Part = z.looseObject({ type: z.string().min(1).max(200) });

export const Message = z.object({
  id: z.string().min(1).max(200),
  role: z.enum(['system', 'user', 'assistant']),
  parts: z.array(Part).max(10_000),
  metadata: JsonValue.optional(),
});
export type Message = z.output<typeof Message>;

const MAX_TOOLS = 1_000;

const JsonSchema = z.record(z.string(), JsonValue).nullish();

const PageTool = z.object({
  description: z.string().max(20_000).nullish(),
  inputSchema: JsonSchema.describe('JSON Schema'),
  parameters: JsonSchema.describe('the same as inputSchema'),
});

const PageTools = z.union([
  z.array(PageTool.extend({ name: CallerTool.shape.name })).max(MAX_TOOLS),
  z
    .record(CallerTool.shape.name, PageTool)
    .refine((tools) => Object.keys(tools).length <= MAX_TOOLS, `At most ${MAX_TOOLS} tools are allowed`),
]);

export const ChatRequest = z.object({
  id: SessionId.describe('the session'),
  messages: z.array(Message).min(1).max(10_000),
  trigger: z.enum(['submit-message', 'regenerate-message']).nullish(),
  messageId: z.string().nullish().describe('a message of the user to edit, or an answer to continue'),
  tools: PageTools.nullish().describe(
    'run by the page, beside those of the agent: a list, or an object by name as assistant-ui sends it',
  ),
  system: z.string().nullish().describe('instructions, beside those in messages'),
});
export type ChatRequest = z.output<typeof ChatRequest>;

export const HistoryQuery = z.object({
  limit: z.coerce.number().int().min(1).max(2_000).default(2_000).describe('messages, the latest ones'),
  before: z.string().max(40).optional().describe('`before` of the answer with the messages that follow'),
});
export type HistoryQuery = z.output<typeof HistoryQuery>;

// Parts, each validated where it is used.

export const TextPart = z.object({ type: z.literal('text'), text: z.string() });

export const FilePart = z.object({
  type: z.literal('file'),
  url: z.string(),
  mediaType: z.string().max(200).default(''),
  filename: z.string().max(500).optional(),
});

const Called = { toolCallId: z.string(), providerExecuted: z.boolean().optional() };

/** A tool call in an assistant message. Other states count as unanswered. */
export const ToolPart = z.discriminatedUnion('state', [
  z.object({
    ...Called,
    state: z.literal('approval-responded'),
    approval: z.object({ id: z.string(), approved: z.boolean(), reason: z.string().max(10_000).optional() }),
  }),
  z.object({ ...Called, state: z.literal('output-available'), output: JsonValue.optional() }),
  z.object({ ...Called, state: z.literal('output-error'), errorText: z.string() }),
  z.object({ ...Called, state: z.literal('output-denied') }),
]);
export type ToolPart = z.output<typeof ToolPart>;
