import { z } from 'zod';
import { named } from '../shared/description.ts';

export const ErrorAnswer = named(
  'AnthropicError',
  z.object({
    type: z.literal('error'),
    error: z.object({
      type: z.string(),
      message: z.string(),
      details: z.object({ error_code: z.string() }).optional().describe('why a thread cannot be continued'),
    }),
    request_id: z.string(),
  }),
);

export const ModelView = named(
  'AnthropicModel',
  z.object({
    type: z.literal('model'),
    id: z.string(),
    display_name: z.string(),
    created_at: z.iso.datetime(),
  }),
);

export const ModelList = named(
  'AnthropicModelList',
  z.object({
    data: z.array(ModelView),
    has_more: z.boolean(),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
  }),
);

export const TokenCount = named('AnthropicTokenCount', z.object({ input_tokens: z.int() }));

const Block = z.discriminatedUnion('type', [
  z.object({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() }),
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({
    type: z.literal('tool_use'),
    id: z.string(),
    name: z.string(),
    input: z.record(z.string(), z.unknown()),
  }),
]);

export const MessageView = named(
  'AnthropicMessage',
  z.object({
    id: z.string(),
    type: z.literal('message'),
    role: z.literal('assistant'),
    model: z.string().describe('the model that answered'),
    content: z.array(Block),
    stop_reason: z.enum(['end_turn', 'tool_use', 'max_tokens', 'refusal']),
    stop_sequence: z.null(),
    usage: z.object({
      input_tokens: z.number(),
      output_tokens: z.number(),
      cache_creation_input_tokens: z.number(),
      cache_read_input_tokens: z.number(),
    }),
  }),
);
