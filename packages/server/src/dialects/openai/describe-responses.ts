import { z } from 'zod';
import { type Endpoint, type Examples, named, type RequestExample } from '../kit/description.ts';
import { ConversationCreate, ConversationUpdate } from './conversations.ts';
import { errors, SESSION } from './describe-errors.ts';
import { PageQuery } from './responses/list.ts';

import { Metadata, ResponseRequest } from './responses/schemas.ts';
import { StreamQuery } from './responses/stored.ts';
import { RequestHeaders } from './schemas.ts';

// Schemas of the responses of the Responses and Conversations endpoints, for the descriptions.

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

const ResponseView = named(
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
const ResponseDeleted = deleted('response.deleted');
const ConversationDeleted = deleted('conversation.deleted');

const ConversationView = named(
  'OpenaiConversation',
  z.object({
    id: Id.describe('the id of the session'),
    object: z.literal('conversation'),
    created_at: z.int(),
    metadata: z.record(z.string(), z.string()).describe('the labels of the session'),
  }),
);

const ItemList = named(
  'OpenaiItemList',
  z.object({
    object: z.literal('list'),
    data: z.array(z.looseObject({ id: Id, type: z.string() })),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  }),
);

const STREAM = {
  description: '',
  type: 'text/event-stream',
  schema: z.string().describe('`response.created` to `response.completed`, numbered'),
} as const;

const STREAMED: RequestExample = {
  title: 'Stream a response',
  stream: true,
  creates: true,
  body: { model: 'parlance', input: 'count to 20', stream: true },
};

const examples: Examples<RequestExample> = (ids) => [
  STREAMED,
  {
    title: 'In a conversation',
    creates: true,
    body: { model: 'parlance', input: 'count to 3', conversation: ids.session },
  },
  {
    title: 'With a history and results',
    creates: true,
    body: {
      model: 'parlance',
      store: false,
      input: [
        { role: 'user', content: 'count to 20' },
        { type: 'function_call', call_id: ids.call, name: 'weather', arguments: '{}' },
        { type: 'function_call_output', call_id: ids.call, output: 'sunny' },
        { role: 'user', content: 'count to 3' },
      ],
    },
  },
  { probe: true, body: { model: 'parlance', input: 'hello', previous_response_id: ids.response } },
  {
    probe: true,
    body: {
      model: 'parlance',
      previous_response_id: ids.response,
      input: [{ type: 'mcp_approval_response', approval_request_id: ids.approval, approve: true }],
    },
  },
];

const stored: Examples<RequestExample> = ({ response }) => [{ params: { id: response } }];

export const responseEndpoints = (base: string): Endpoint[] => [
  {
    method: 'post',
    path: `${base}/responses`,
    summary: 'Responses: the answer to an input, whole, as a stream, or in the background',
    security: 'caller',
    headers: RequestHeaders,
    body: named('OpenaiResponseRequest', ResponseRequest),
    examples: base === '/v1' ? () => [STREAMED] : examples,
    answers: {
      200: [
        {
          description: 'The response, whole or as server-sent events',
          schema: ResponseView,
          headers: SESSION,
        },
        STREAM,
      ],
      ...errors(400, 401, 402, 403, 404, 409, 413, 422, 429, 502, 503),
    },
  },
  {
    method: 'get',
    path: `${base}/responses/{id}`,
    summary: 'A stored response, whole, or its events after a number',
    security: 'caller',
    query: StreamQuery,
    examples: stored,
    answers: {
      200: [{ description: 'The response', schema: ResponseView, headers: SESSION }, STREAM],
      ...errors(400, 401, 404),
    },
  },
  {
    method: 'delete',
    path: `${base}/responses/{id}`,
    summary: 'Deletes a stored response; its session stays',
    security: 'caller',
    examples: stored,
    answers: { 200: { description: 'Deleted', schema: ResponseDeleted }, ...errors(401, 404) },
  },
  {
    method: 'post',
    path: `${base}/responses/{id}/cancel`,
    summary: 'Cancels a response that is not complete',
    security: 'caller',
    examples: stored,
    answers: { 200: { description: 'The response', schema: ResponseView }, ...errors(401, 404) },
  },
  {
    method: 'get',
    path: `${base}/responses/{id}/input_items`,
    summary: 'The input of a stored response',
    security: 'caller',
    query: PageQuery,
    examples: stored,
    answers: { 200: { description: 'A page', schema: ItemList }, ...errors(400, 401, 404) },
  },
];

const CONVERSATION = '/openai/v1/conversations/{id}';
const existing: Examples<RequestExample> = ({ session }) => [{ params: { id: session } }];

export const conversationEndpoints: readonly Endpoint[] = [
  {
    method: 'post',
    path: '/openai/v1/conversations',
    summary: 'Creates a conversation: a session',
    security: 'caller',
    body: named('OpenaiConversationRequest', ConversationCreate),
    examples: () => [{ creates: true, body: { metadata: { topic: 'numbers' } } }],
    answers: { 200: { description: 'The conversation', schema: ConversationView }, ...errors(400, 401, 413) },
  },
  {
    method: 'get',
    path: CONVERSATION,
    summary: 'A conversation',
    security: 'caller',
    examples: existing,
    answers: { 200: { description: 'The conversation', schema: ConversationView }, ...errors(401, 404) },
  },
  {
    method: 'post',
    path: CONVERSATION,
    summary: 'Replaces the metadata of a conversation',
    security: 'caller',
    body: ConversationUpdate,
    examples: ({ session }) => [{ params: { id: session }, body: { metadata: { topic: 'letters' } } }],
    answers: { 200: { description: 'The conversation', schema: ConversationView }, ...errors(400, 401, 404) },
  },
  {
    method: 'delete',
    path: CONVERSATION,
    summary: 'Archives the session of a conversation',
    security: 'caller',
    examples: existing,
    answers: { 200: { description: 'Deleted', schema: ConversationDeleted }, ...errors(401, 404) },
  },
  {
    method: 'get',
    path: `${CONVERSATION}/items`,
    summary: 'The messages of a conversation',
    security: 'caller',
    query: PageQuery,
    examples: existing,
    answers: { 200: { description: 'A page', schema: ItemList }, ...errors(400, 401, 404) },
  },
];
