import { z } from 'zod';
import {
  type Description,
  EXAMPLE_IDS,
  errorAnswers,
  named,
  type OutboundMessages,
} from '../kit/description.ts';
import {
  CompactRequest,
  CompletionRequest,
  ConversationCreate,
  Metadata,
  ResponseCreate,
  ResponseRequest,
} from './contract.ts';

named('OpenaiCompactRequest', CompactRequest);
named('OpenaiChatRequest', CompletionRequest);
named('OpenaiResponseRequest', ResponseRequest);
named('OpenaiConversationRequest', ConversationCreate);

const ErrorDetail = z.object({
  message: z.string(),
  type: z.string(),
  param: z.string().nullable().describe('the field of the request, such as messages[2].role'),
  code: z.string().nullable(),
});

const ErrorAnswer = named('OpenaiError', z.object({ error: ErrorDetail }));

const ModelView = named(
  'OpenaiModel',
  z.object({ id: z.string(), object: z.literal('model'), created: z.int(), owned_by: z.string() }),
);

const ModelList = named('OpenaiModelList', z.object({ object: z.literal('list'), data: z.array(ModelView) }));

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

const Completion = named(
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

// Responses and Conversations

const Id = z.string();
const TextContent = z.object({
  type: z.literal('output_text'),
  text: z.string(),
  annotations: z.array(z.unknown()),
});
const SummaryText = z.object({ type: z.literal('summary_text'), text: z.string() });
const ServerLabel = z.literal('parlance');

const OutputItem = named(
  'OpenaiOutputItem',
  z.discriminatedUnion('type', [
    z.object({
      id: Id,
      type: z.literal('message'),
      status: z.enum(['in_progress', 'completed', 'incomplete']),
      role: z.literal('assistant'),
      content: z.array(TextContent),
      phase: z
        .enum(['commentary', 'final_answer'])
        .optional()
        .describe('whether the agent goes on with a call after it, or has answered'),
    }),
    z.object({
      id: Id,
      type: z.literal('reasoning'),
      summary: z.array(SummaryText),
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

const ResponseUsage = z.object({
  input_tokens: z.number(),
  input_tokens_details: z.object({ cached_tokens: z.number(), cache_write_tokens: z.number() }),
  output_tokens: z.number(),
  output_tokens_details: z.object({ reasoning_tokens: z.number() }),
  total_tokens: z.number(),
});

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
    max_tool_calls: z.null(),
    metadata: Metadata,
    model: z.string().describe('the model that answered'),
    output: z.array(OutputItem),
    parallel_tool_calls: z.boolean(),
    previous_response_id: z.string().nullable(),
    conversation: z.object({ id: Id }).nullable(),
    reasoning: z.object({ effort: z.string().nullable(), summary: z.null() }),
    store: z.boolean(),
    frequency_penalty: z.number(),
    presence_penalty: z.number(),
    top_logprobs: z.int(),
    service_tier: z.literal('default'),
    safety_identifier: z.string().nullable(),
    prompt_cache_key: z.string().nullable(),
    temperature: z.number(),
    text: z.object({ format: z.looseObject({ type: z.string() }) }),
    tool_choice: z.union([z.string(), z.looseObject({ type: z.string() })]),
    tools: z.array(z.looseObject({ type: z.string() })),
    top_p: z.number(),
    truncation: z.literal('disabled'),
    usage: ResponseUsage.nullable(),
  }),
);

const Compaction = named(
  'OpenaiCompaction',
  z.object({
    id: Id,
    object: z.literal('response.compaction'),
    created_at: z.int(),
    output: z
      .array(z.looseObject({ id: Id, type: z.enum(['message', 'compaction']) }))
      .describe('the messages of the user, then a compaction item: the input of the next request'),
    usage: ResponseUsage,
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

const Item = named('OpenaiItem', z.looseObject({ id: Id, type: z.string() }));

const ItemList = named(
  'OpenaiItemList',
  z.object({
    object: z.literal('list'),
    data: z.array(Item),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  }),
);

export const schemas = {
  Compaction,
  Completion,
  ConversationDeleted,
  ConversationView,
  Item,
  ItemList,
  ModelList,
  ModelView,
  ResponseDeleted,
  ResponseView,
};

// The events of a response over a WebSocket

const position = { item_id: Id, output_index: z.int() };
const ITEM = { item_id: 'msg_1', output_index: 0 };
const inContent = { ...position, content_index: z.literal(0) };
const inSummary = { ...position, summary_index: z.literal(0) };
const logprobs = z.array(z.never());

const event = <Type extends string>(
  type: Type,
  summary: string,
  shape: z.core.$ZodShape,
  example: object,
) => ({
  summary,
  schema: z.strictObject({
    type: z.literal(type),
    sequence_number: z.int(),
    ...shape,
    stream_id: z.string().optional(),
  }),
  example: { type, sequence_number: 4, ...example },
});

const RESPONSE = {
  id: EXAMPLE_IDS.response,
  object: 'response',
  created_at: 1_700_000_000,
  completed_at: null,
  status: 'in_progress',
  background: false,
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  model: 'parlance',
  output: [],
  parallel_tool_calls: true,
  previous_response_id: null,
  conversation: null,
  reasoning: { effort: null, summary: null },
  store: true,
  frequency_penalty: 0,
  presence_penalty: 0,
  top_logprobs: 0,
  service_tier: 'default',
  safety_identifier: null,
  prompt_cache_key: null,
  temperature: 1,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_p: 1,
  truncation: 'disabled',
  usage: null,
};

const lifecycle = (name: string, summary: string) =>
  event(`response.${name}`, summary, { response: ResponseView }, { response: RESPONSE });

const MESSAGE = { id: 'msg_1', type: 'message', status: 'in_progress', role: 'assistant', content: [] };
const itemEvent = (name: string, summary: string) =>
  event(
    `response.output_item.${name}`,
    summary,
    { output_index: z.int(), item: OutputItem },
    { output_index: 0, item: MESSAGE },
  );

const TEXT = { type: 'output_text', text: '', annotations: [] };
const SUMMARY = { type: 'summary_text', text: '' };
const mcpCall = (name: string, summary: string) =>
  event(`response.mcp_call.${name}`, summary, position, ITEM);

const outbound: OutboundMessages = Object.fromEntries(
  [
    lifecycle('created', 'The response was accepted.'),
    lifecycle('in_progress', 'Its turn runs, or waits behind another one.'),
    lifecycle('completed', 'It has ended, or waits for results or an approval.'),
    lifecycle('incomplete', 'It has ended early: `incomplete_details` has the reason.'),
    lifecycle('failed', 'It has failed: `error` has the reason.'),
    itemEvent('added', 'An item begins.'),
    itemEvent('done', 'An item is complete.'),
    event(
      'response.content_part.added',
      'A message has a text.',
      { ...inContent, part: TextContent },
      { ...ITEM, content_index: 0, part: TEXT },
    ),
    event(
      'response.output_text.delta',
      'A part of the text.',
      { ...inContent, delta: z.string(), logprobs },
      { ...ITEM, content_index: 0, delta: '1, ', logprobs: [] },
    ),
    event(
      'response.output_text.done',
      'The whole text.',
      { ...inContent, text: z.string(), logprobs },
      { ...ITEM, content_index: 0, text: '1, 2, 3', logprobs: [] },
    ),
    event(
      'response.content_part.done',
      'The text is complete.',
      { ...inContent, part: TextContent },
      { ...ITEM, content_index: 0, part: TEXT },
    ),
    event(
      'response.reasoning_summary_part.added',
      'Reasoning has a text.',
      { ...inSummary, part: SummaryText },
      { ...ITEM, summary_index: 0, part: SUMMARY },
    ),
    event(
      'response.reasoning_summary_text.delta',
      'A part of the reasoning.',
      { ...inSummary, delta: z.string() },
      { ...ITEM, summary_index: 0, delta: 'Hm' },
    ),
    event(
      'response.reasoning_summary_text.done',
      'The whole reasoning.',
      { ...inSummary, text: z.string() },
      { ...ITEM, summary_index: 0, text: 'Hm.' },
    ),
    event(
      'response.reasoning_summary_part.done',
      'The reasoning is complete.',
      { ...inSummary, part: SummaryText },
      { ...ITEM, summary_index: 0, part: SUMMARY },
    ),
    event(
      'response.function_call_arguments.delta',
      'A part of the arguments of a call.',
      { ...position, delta: z.string() },
      { ...ITEM, delta: '{"city":' },
    ),
    event(
      'response.function_call_arguments.done',
      'The whole arguments.',
      { ...position, name: z.string(), arguments: z.string() },
      { ...ITEM, name: 'weather', arguments: '{"city":"Rome"}' },
    ),
    event(
      'response.mcp_call_arguments.done',
      'The arguments of a call of the agent’s own tool.',
      { ...position, arguments: z.string() },
      { ...ITEM, arguments: '{"path":"."}' },
    ),
    mcpCall('in_progress', 'The agent’s own tool runs.'),
    mcpCall('completed', 'It has ended.'),
    mcpCall('failed', 'It has failed.'),
    event('keepalive', 'Stands for an event that was discarded with its step.', {}, {}),
    {
      summary: 'The message was refused, or the connection ends. `code` is never null.',
      schema: z.strictObject({
        type: z.literal('error'),
        status: z.int(),
        error: ErrorDetail.extend({
          code: z.string(),
          headers: z.record(z.string(), z.string()).optional(),
        }),
        stream_id: z.string().optional(),
      }),
      example: {
        type: 'error',
        status: 400,
        error: {
          type: 'invalid_request_error',
          code: 'previous_response_not_found',
          message: "Previous response with id 'resp_1' not found.",
          param: 'previous_response_id',
        },
      },
    },
  ].map((message) => [message.example.type, message]),
);

const inbound: NonNullable<Description['messages']>['in'] = {
  'response.create': {
    summary: 'Creates a response. Messages are processed one after another.',
    schema: ResponseCreate,
    examples: ({ response, approval }) => [
      {
        title: 'Create a response',
        first: true,
        frame: { type: 'response.create', model: 'parlance', input: 'count to 20' },
        endedBy: 'response.completed',
      },
      {
        title: 'Prepare a response',
        frame: { type: 'response.create', model: 'parlance', input: [], generate: false },
        endedBy: 'response.completed',
      },
      {
        title: 'Continue a response',
        probe: true,
        frame: {
          type: 'response.create',
          model: 'parlance',
          previous_response_id: response,
          input: 'hello',
        },
      },
      {
        title: 'Answer an approval',
        probe: true,
        frame: {
          type: 'response.create',
          model: 'parlance',
          previous_response_id: response,
          input: [{ type: 'mcp_approval_response', approval_request_id: approval, approve: true }],
        },
      },
    ],
  },
};

const NODE_SCRIPT = {
  title: 'Node and Bun, with openai',
  language: 'ts',
  code: `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '{{origin}}/openai/v1', apiKey: process.env.PARLANCE_TOKEN ?? 'none' });
const stream = await client.chat.completions.create({
  model: 'parlance',
  messages: [{ role: 'user', content: 'count to 20' }],
  stream: true,
});
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? '');`,
} as const;

const PYTHON_SCRIPT = {
  title: 'Python, with openai',
  language: 'python',
  code: `import os
from openai import OpenAI

client = OpenAI(base_url="{{origin}}/openai/v1", api_key=os.environ.get("PARLANCE_TOKEN", "none"))
print(client.responses.create(model="parlance", input="count to 20").output_text)`,
} as const;

const LANGCHAIN_SCRIPT = {
  title: 'LangChain, with @langchain/openai',
  language: 'ts',
  code: `import { ChatOpenAI } from '@langchain/openai';

const model = new ChatOpenAI({
  model: 'parlance',
  apiKey: process.env.PARLANCE_TOKEN ?? 'none',
  configuration: { baseURL: '{{origin}}/openai/v1' },
});
console.log((await model.invoke('count to 20')).text);`,
} as const;

const CODEX_CONFIG = {
  title: 'Codex, in ~/.codex/config.toml',
  language: 'toml',
  code: `model = "parlance"
model_provider = "parlance"

[model_providers.parlance]
name = "Parlance"
base_url = "{{origin}}/openai/v1"
wire_api = "responses"
env_key = "PARLANCE_TOKEN"`,
} as const;

export const description: Description = {
  title: 'OpenAI clients',
  summary:
    'SDKs and applications of the OpenAI API: set the base URL to /openai/v1 and the key to a token or an API key.',
  note: 'Clients that have no setting for the key read OPENAI_API_KEY, and OPENAI_BASE_URL for the address.',
  scripts: [NODE_SCRIPT, PYTHON_SCRIPT, LANGCHAIN_SCRIPT, CODEX_CONFIG],
  socket: { nameField: 'type' },
  messages: { in: inbound, out: outbound },
  schemas,
  errors: errorAnswers(
    {
      400: 'Missing or invalid field, or the model API refused the request',
      401: 'Missing or invalid key, here or at the model API',
      402: 'The quota at the model API is used up',
      403: 'The role, or the key of the model API, lacks the permission',
      404: 'Unknown model, response or conversation',
      409: 'The turn was cancelled',
      413: 'The body is too large',
      429: 'Too many requests to this server or to the model',
      502: 'The model API is unavailable',
      503: 'The server is overloaded or shutting down',
    },
    { schema: ErrorAnswer },
  ),
};
