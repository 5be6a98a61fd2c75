import { z } from 'zod';
import { type Description, errorAnswers, named } from '../kit/description.ts';
import { CompletionRequest, ConversationCreate, Metadata, ResponseRequest } from './contract.ts';

named('OpenaiChatRequest', CompletionRequest);
named('OpenaiResponseRequest', ResponseRequest);
named('OpenaiConversationRequest', ConversationCreate);

const ErrorAnswer = named(
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

export const schemas = {
  Completion,
  ConversationDeleted,
  ConversationView,
  ItemList,
  ModelList,
  ModelView,
  ResponseDeleted,
  ResponseView,
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
      422: 'The model API refused the request',
      429: 'Too many requests to this server or to the model',
      502: 'The model API is unavailable',
      503: 'The server is overloaded or shutting down',
    },
    { schema: ErrorAnswer },
  ),
};
