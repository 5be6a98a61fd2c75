import { z } from 'zod';
import { named } from '../kit/description.ts';

export const ErrorAnswer = named(
  'OpenaiError',
  z.object({
    error: z.object({
      message: z.string(),
      type: z.string(),
      param: z.string().nullable().describe('the field of the request, such as messages[2].role'),
      code: z.string().nullable(),
    }),
  }),
);

export const ModelView = named(
  'OpenaiModel',
  z.object({ id: z.string(), object: z.literal('model'), created: z.int(), owned_by: z.string() }),
);

export const ModelList = named(
  'OpenaiModelList',
  z.object({ object: z.literal('list'), data: z.array(ModelView) }),
);

const ToolCall = z.object({
  id: z.string(),
  type: z.literal('function'),
  function: z.object({ name: z.string(), arguments: z.string() }),
});

const Usage = z.object({
  prompt_tokens: z.number(),
  completion_tokens: z.number(),
  total_tokens: z.number(),
  prompt_tokens_details: z.object({ cached_tokens: z.number() }),
  completion_tokens_details: z.object({ reasoning_tokens: z.number() }),
});

export const Completion = named(
  'OpenaiChatCompletion',
  z.object({
    id: z.string(),
    object: z.literal('chat.completion'),
    created: z.int(),
    model: z.string().describe('the model that answered'),
    choices: z.array(
      z.object({
        index: z.literal(0),
        message: z.object({
          role: z.literal('assistant'),
          content: z.string().nullable(),
          refusal: z.null(),
          tool_calls: z.array(ToolCall).optional(),
        }),
        finish_reason: z.enum(['stop', 'length', 'content_filter', 'tool_calls']),
        logprobs: z.null(),
      }),
    ),
    usage: Usage,
  }),
);
