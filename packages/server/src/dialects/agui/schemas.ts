/** Schema of requests. Unknown fields are ignored, and so are nulls of earlier versions. */
import { CallerTool, JsonValue } from '@parlance/protocol';
import { z } from 'zod';

const Id = z.string().min(1).max(200);

const Source = z.object({ type: z.string(), value: z.string().default(''), mimeType: z.string().nullish() });

const TextPart = z.object({ type: z.literal('text'), text: z.string() });
const MediaPart = z.object({ type: z.enum(['image', 'audio', 'video', 'document']), source: Source });
/** versions before 1.0 */
const BinaryPart = z.object({
  type: z.literal('binary'),
  mimeType: z.string(),
  data: z.string().nullish(),
  url: z.string().nullish(),
  filename: z.string().nullish(),
});
export const ContentPart = z.discriminatedUnion('type', [TextPart, MediaPart, BinaryPart]);
export type ContentPart = z.output<typeof ContentPart>;

const Content = z.union([z.string(), z.array(ContentPart).max(100)]);
export type Content = z.output<typeof Content>;

const ToolCall = z.object({
  id: Id,
  function: z.object({ name: z.string().min(1).max(200), arguments: z.string() }),
});

export const Message = z.discriminatedUnion('role', [
  z.object({ id: Id, role: z.literal('system'), content: z.string() }),
  z.object({ id: Id, role: z.literal('developer'), content: z.string() }),
  z.object({ id: Id, role: z.literal('user'), content: Content }),
  z.object({
    id: Id,
    role: z.literal('assistant'),
    content: z.string().nullish(),
    toolCalls: z.array(ToolCall).max(1_000).nullish(),
  }),
  z.object({
    id: Id,
    role: z.literal('tool'),
    toolCallId: Id,
    content: Content,
    error: z.string().nullish(),
  }),
  z.object({ id: Id, role: z.literal('reasoning'), content: z.string() }),
  z.object({ id: Id, role: z.literal('activity') }),
]);
export type Message = z.output<typeof Message>;

const Tool = z.object({
  name: CallerTool.shape.name,
  description: z.string().max(20_000).nullish(),
  parameters: z.record(z.string(), JsonValue).nullish(),
});

export const ResumeEntry = z.object({
  interruptId: Id,
  status: z.enum(['resolved', 'cancelled']),
  payload: z.unknown().optional(),
});
export type ResumeEntry = z.output<typeof ResumeEntry>;

const Context = z.object({ description: z.string().max(20_000), value: z.string().max(200_000) });

export const RunAgentInput = z.object({
  threadId: z.string().min(1).max(200),
  runId: Id,
  messages: z.array(Message).max(10_000),
  tools: z.array(Tool).max(1_000).nullish(),
  context: z.array(Context).max(1_000).nullish(),
  resume: z.array(ResumeEntry).max(1_000).nullish(),
  protocolVersion: z.string().nullish(),
});
export type RunAgentInput = z.output<typeof RunAgentInput>;
