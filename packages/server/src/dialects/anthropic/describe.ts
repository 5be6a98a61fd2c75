import { z } from 'zod';
import { type Description, errorAnswers, named } from '../kit/description.ts';
import { CountRequest, MessageRequest } from './contract.ts';

named('AnthropicMessageRequest', MessageRequest);
named('AnthropicCountRequest', CountRequest);

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

export const schemas = { MessageView, ModelList, ModelView, TokenCount };

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
  schemas,
  errors: errorAnswers(
    {
      400: 'Missing or invalid field, the thread cannot be continued, or the model API refused the request',
      401: 'Missing or invalid key, here or at the model API',
      402: 'The quota at the model API is used up',
      403: 'The role, or the key of the model API, lacks the permission',
      404: 'Unknown model or thread',
      409: 'The turn was cancelled',
      413: 'The body is too large',
      429: 'Too many requests to this server or to the model',
      502: 'The model API is unavailable',
      503: 'The server is shutting down',
      529: 'The server is overloaded',
    },
    { schema: ErrorAnswer },
  ),
};
