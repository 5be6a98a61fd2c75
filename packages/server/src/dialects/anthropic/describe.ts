import { z } from 'zod';
import {
  type Answers,
  type Description,
  type Endpoint,
  type Examples,
  named,
  type RequestExample,
} from '../kit/description.ts';

import { CountRequest, MessageRequest, ModelQuery, RequestHeaders } from './schemas.ts';

const ErrorAnswer = named(
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

const ModelView = named(
  'AnthropicModel',
  z.object({
    type: z.literal('model'),
    id: z.string(),
    display_name: z.string(),
    created_at: z.iso.datetime(),
  }),
);

const ModelList = named(
  'AnthropicModelList',
  z.object({
    data: z.array(ModelView),
    has_more: z.boolean(),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
  }),
);

const TokenCount = named('AnthropicTokenCount', z.object({ input_tokens: z.int() }));

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

const MessageView = named(
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

const REASONS: Readonly<Record<number, string>> = {
  400: 'Missing or invalid field, the thread cannot be continued, or the model API refused the request',
  401: 'Missing or invalid key, here or at the model API',
  402: 'The quota at the model API is used up',
  403: 'The role, or the key of the model API, lacks the permission',
  404: 'Unknown model or thread',
  409: 'The turn was cancelled',
  413: 'The body is too large',
  422: 'The model API refused the request',
  429: 'Too many requests to this server or to the model',
  502: 'The model API is unavailable',
  503: 'The server is shutting down',
  529: 'The server is overloaded',
};

const errors = (...codes: (keyof typeof REASONS)[]): Answers =>
  Object.fromEntries(codes.map((code) => [code, { description: REASONS[code] ?? '', schema: ErrorAnswer }]));

const HEADERS = {
  'x-parlance-session': 'the session of the answer',
  'request-id': 'the id of the request in the log',
};

const hello = { role: 'user', content: 'count to 20' } as const;
const ASKED = { model: 'parlance', max_tokens: 1_000, messages: [hello] };
const WEATHER = {
  name: 'weather',
  description: 'The weather of a city',
  input_schema: { type: 'object', properties: { city: { type: 'string' } } },
} as const;

const STREAMED: RequestExample = {
  title: 'Stream an answer',
  first: true,
  stream: true,
  creates: true,
  body: { ...ASKED, stream: true },
};

const UNKNOWN: RequestExample = { probe: true, body: { ...ASKED, model: 'nobody' } };

const examples: Examples<RequestExample> = ({ call, turn }) => [
  STREAMED,
  { title: 'With tools of the caller', creates: true, body: { ...ASKED, tools: [WEATHER] } },
  {
    title: 'With a history and results',
    creates: true,
    body: {
      ...ASKED,
      system: 'Be brief.',
      messages: [
        hello,
        { role: 'assistant', content: [{ type: 'tool_use', id: call, name: 'weather', input: {} }] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: call, content: 'sunny' },
            { type: 'text', text: 'count to 3' },
          ],
        },
        { role: 'system', content: 'Use digits.' },
      ],
    },
  },
  { title: 'Create a thread', creates: true, body: { ...ASKED, thread: { type: 'create' } } },
  { probe: true, body: { ...ASKED, thread: { type: 'continue', previous_message_id: `msg_${turn}` } } },
  UNKNOWN,
];

const messages = (base: string): Endpoint[] => [
  {
    method: 'post',
    path: `${base}/messages`,
    summary: 'The answer to a conversation, whole or as a stream',
    security: 'caller',
    headers: RequestHeaders,
    body: named('AnthropicMessageRequest', MessageRequest),
    examples: base === '/v1' ? () => [STREAMED, UNKNOWN] : examples,
    answers: {
      200: [
        { description: 'The answer, whole or as server-sent events', schema: MessageView, headers: HEADERS },
        {
          description: '',
          type: 'text/event-stream',
          schema: z
            .string()
            .describe('`message_start`, the events of each block, `message_delta`, `message_stop`'),
        },
      ],
      ...errors(400, 401, 402, 403, 404, 409, 413, 422, 429, 502, 503, 529),
    },
  },
  {
    method: 'post',
    path: `${base}/messages/count_tokens`,
    summary: 'An estimate of the tokens of a prompt',
    security: 'caller',
    body: named('AnthropicCountRequest', CountRequest),
    examples: () => [{ body: { model: 'parlance', messages: [hello] } }],
    answers: { 200: { description: 'The estimate', schema: TokenCount }, ...errors(400, 401, 404, 413, 429) },
  },
];

const models: Endpoint[] = [
  {
    method: 'get',
    path: '/anthropic/v1/models',
    summary:
      'The models and agents that a request may name; also at `/v1/models` with a header `anthropic-version`',
    security: 'caller',
    query: ModelQuery,
    answers: { 200: { description: 'A page of the list', schema: ModelList }, ...errors(401) },
  },
  {
    method: 'get',
    path: '/anthropic/v1/models/{model}',
    summary: 'A model or agent',
    security: 'caller',
    examples: () => [{ params: { model: 'parlance' } }, { params: { model: 'nobody' }, probe: true }],
    answers: { 200: { description: 'The model', schema: ModelView }, ...errors(401, 404) },
  },
];

const NODE_SCRIPT = {
  title: 'Node and Bun, with @anthropic-ai/sdk',
  language: 'ts',
  code: `import Anthropic from '@anthropic-ai/sdk';

const client = new Anthropic({ baseURL: '{{origin}}/anthropic', apiKey: process.env.PARLANCE_TOKEN ?? 'none' });
const stream = client.messages.stream({
  model: 'parlance',
  max_tokens: 1000,
  messages: [{ role: 'user', content: 'count to 20' }],
});
stream.on('text', (text) => process.stdout.write(text));
await stream.finalMessage();`,
} as const;

const THREAD_SCRIPT = {
  title: 'A thread, with @anthropic-ai/sdk',
  language: 'ts',
  code: `import Anthropic from '@anthropic-ai/sdk';

const client = new Anthropic({ baseURL: '{{origin}}/anthropic', apiKey: process.env.PARLANCE_TOKEN ?? 'none' });
const thread = client.beta.messages.thread({ model: 'parlance', max_tokens: 1000 });
await thread.send({ role: 'user', content: 'count to 3' });
console.log((await thread.send({ role: 'user', content: 'count to 5' })).content);`,
} as const;

export const description: Description = {
  title: 'Anthropic clients',
  summary:
    'SDKs and coding clients of the Anthropic API: set the base URL to /anthropic and the key to a token or an API key.',
  note: 'Coding clients such as Claude Code read ANTHROPIC_BASE_URL and ANTHROPIC_AUTH_TOKEN. Set MODEL_ALIASES=claude-*=parlance on the server for the names of models that they have built in.',
  scripts: [NODE_SCRIPT, THREAD_SCRIPT],
  endpoints: [...models, ...messages('/anthropic/v1'), ...messages('/v1')],
};
