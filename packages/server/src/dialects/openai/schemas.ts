/** What requests hold, as far as it is used. Unknown fields are passed over. */
import { CallerTool } from '@parlance/protocol';
import { z } from 'zod';

const TextPart = z.object({ type: z.literal('text'), text: z.string() });
const RefusalPart = z.object({ type: z.literal('refusal'), refusal: z.string() });
const ImagePart = z.object({ type: z.literal('image_url'), image_url: z.object({ url: z.string() }) });
const FilePart = z.object({
  type: z.literal('file'),
  file: z.object({ filename: z.string().optional(), file_data: z.string().optional() }),
});

const Words = z.union([z.string(), z.array(TextPart)]);
const Content = z.union([
  z.string(),
  z.array(z.discriminatedUnion('type', [TextPart, ImagePart, FilePart])).max(100),
]);
export type Content = z.output<typeof Content>;

const ToolCall = z.object({
  id: z.string().min(1).max(200),
  type: z.literal('function').optional(),
  function: z.object({ name: z.string().min(1).max(200), arguments: z.string() }),
});

export const Message = z.discriminatedUnion('role', [
  z.object({ role: z.literal('system'), content: Words }),
  z.object({ role: z.literal('developer'), content: Words }),
  z.object({ role: z.literal('user'), content: Content }),
  z.object({
    role: z.literal('assistant'),
    content: z.union([z.string(), z.array(z.discriminatedUnion('type', [TextPart, RefusalPart]))]).nullish(),
    refusal: z.string().nullish(),
    tool_calls: z.array(ToolCall).nullish(),
  }),
  z.object({ role: z.literal('tool'), tool_call_id: z.string().min(1).max(200), content: Words }),
]);
export type Message = z.output<typeof Message>;

const FunctionTool = z.object({
  type: z.literal('function'),
  function: z.object({
    name: CallerTool.shape.name,
    description: z.string().max(20_000).nullish(),
    parameters: z.record(z.string(), z.json()).nullish(),
  }),
});

/** Kinds of tools that there are none of here are left out. */
const Tool = z.union([FunctionTool, z.object({ type: z.string().regex(/^(?!function$)/, { abort: true }) })]);
export type Tool = z.output<typeof Tool>;

const ResponseFormat = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text') }),
  z.object({ type: z.literal('json_object') }),
  z.object({
    type: z.literal('json_schema'),
    json_schema: z.object({
      name: z.string().max(64).optional(),
      schema: z.record(z.string(), z.json()).default({}),
      strict: z.boolean().nullish(),
    }),
  }),
]);

export const CompletionRequest = z.object({
  model: z.string().min(1).max(200),
  messages: z.array(Message).min(1).max(10_000),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  /** there is one answer, whatever is asked for */
  n: z.int().min(1).nullish(),
  tools: z.array(Tool).max(1_000).nullish(),
  tool_choice: z
    .union([
      z.enum(['none', 'auto', 'required']),
      z.object({ type: z.literal('function'), function: z.object({ name: z.string() }) }),
    ])
    .nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  max_tokens: z.int().min(1).nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  stop: z.union([z.string().min(1).max(1_000), z.array(z.string().min(1).max(1_000)).max(16)]).nullish(),
  response_format: ResponseFormat.nullish(),
  reasoning_effort: z.string().nullish(),
});
export type CompletionRequest = z.output<typeof CompletionRequest>;

export const RequestHeaders = z.object({
  'x-parlance-session': z.string().optional().describe('the session; without it the history decides'),
  'idempotency-key': z.string().optional().describe('a repeated request gets the same answer'),
});
