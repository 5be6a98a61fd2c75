/** Schemas of the responses of the Responses and Conversations endpoints, for the descriptions. */
import { z } from 'zod';
import { named } from '../../shared/description.ts';
import { Metadata } from './schemas.ts';

const Id = z.string();
const ServerLabel = z.literal('parlance');

const OutputItem = named(
  'OpenaiOutputItem',
  z.discriminatedUnion('type', [
    z.object({
      id: Id,
      type: z.literal('message'),
      status: z.enum(['in_progress', 'completed', 'incomplete']),
      role: z.literal('assistant'),
      content: z.array(
        z.object({ type: z.literal('output_text'), text: z.string(), annotations: z.array(z.unknown()) }),
      ),
    }),
    z.object({
      id: Id,
      type: z.literal('reasoning'),
      summary: z.array(z.object({ type: z.literal('summary_text'), text: z.string() })),
    }),
    z.object({
      id: Id,
      type: z.literal('function_call'),
      status: z.enum(['in_progress', 'completed', 'incomplete']),
      call_id: Id,
      name: z.string(),
      arguments: z.string().describe('JSON'),
    }),
    z.object({
      id: Id,
      type: z.literal('mcp_call').describe('a call of one of the agent’s own tools'),
      server_label: ServerLabel,
      name: z.string(),
      arguments: z.string(),
      approval_request_id: z.string().nullable(),
      status: z.enum(['in_progress', 'completed', 'failed']),
      output: z.string().nullable(),
      error: z.object({ type: z.string(), content: z.string() }).nullable(),
    }),
    z.object({
      id: Id.describe('the id of the approval'),
      type: z.literal('mcp_approval_request'),
      server_label: ServerLabel,
      name: z.string(),
      arguments: z.string(),
    }),
  ]),
);

export const ResponseView = named(
  'OpenaiResponse',
  z.object({
    id: Id,
    object: z.literal('response'),
    created_at: z.int(),
    completed_at: z.int().nullable(),
    status: z.enum(['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled']),
    background: z.boolean(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    incomplete_details: z.object({ reason: z.enum(['max_output_tokens', 'content_filter']) }).nullable(),
    instructions: z.string().nullable(),
    max_output_tokens: z.int().nullable(),
    metadata: Metadata,
    model: z.string().describe('the model that answered'),
    output: z.array(OutputItem),
    parallel_tool_calls: z.boolean(),
    previous_response_id: z.string().nullable(),
    conversation: z.object({ id: Id }).nullable(),
    reasoning: z.object({ effort: z.string().nullable(), summary: z.null() }),
    store: z.boolean(),
    temperature: z.number(),
    text: z.object({ format: z.looseObject({ type: z.string() }) }),
    tool_choice: z.union([z.string(), z.looseObject({ type: z.string() })]),
    tools: z.array(z.looseObject({ type: z.string() })),
    top_p: z.number(),
    truncation: z.literal('disabled'),
    usage: z
      .object({
        input_tokens: z.number(),
        input_tokens_details: z.object({ cached_tokens: z.number(), cache_write_tokens: z.number() }),
        output_tokens: z.number(),
        output_tokens_details: z.object({ reasoning_tokens: z.number() }),
        total_tokens: z.number(),
      })
      .nullable(),
  }),
);

const deleted = <Object extends string>(object: Object) =>
  z.object({ id: Id, object: z.literal(object), deleted: z.literal(true) });
export const ResponseDeleted = deleted('response.deleted');
export const ConversationDeleted = deleted('conversation.deleted');

export const ConversationView = named(
  'OpenaiConversation',
  z.object({
    id: Id.describe('the id of the session'),
    object: z.literal('conversation'),
    created_at: z.int(),
    metadata: z.record(z.string(), z.string()).describe('the labels of the session'),
  }),
);

export const ItemList = named(
  'OpenaiItemList',
  z.object({
    object: z.literal('list'),
    data: z.array(z.looseObject({ id: Id, type: z.string() })),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  }),
);
