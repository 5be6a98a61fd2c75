/** The requests with examples, and what the documents show. Unknown fields and kinds of blocks are ignored. */
import { CallerTool } from '@parlance/protocol';
import { z } from 'zod';
import {
  type Description,
  type Examples,
  errorAnswers,
  named,
  type RequestExample,
} from '../kit/description.ts';
import { VendorHeaders } from '../kit/vendor-requests.ts';

/** A block of any other kind. */
const otherThan = (...known: string[]) =>
  z.object({ type: z.string().regex(new RegExp(`^(?!(?:${known.join('|')})$)`), { abort: true }) });

const TextBlock = z.object({ type: z.literal('text'), text: z.string() });
const Base64 = z.object({ type: z.literal('base64'), media_type: z.string(), data: z.string() });
const PlainText = z.object({ type: z.literal('text'), data: z.string() });
const Url = z.object({ type: z.literal('url'), url: z.string() });
const OtherSource = otherThan('base64', 'text', 'url');

const ImageBlock = z.object({ type: z.literal('image'), source: z.union([Base64, Url, OtherSource]) });
const DocumentBlock = z.object({
  type: z.literal('document'),
  title: z.string().max(500).nullish(),
  source: z.union([Base64, PlainText, Url, OtherSource]),
});
const Material = z.discriminatedUnion('type', [TextBlock, ImageBlock, DocumentBlock]);
export type Material = z.output<typeof Material>;

const id = z.string().min(1).max(200);

const ResultBlock = z.object({
  type: z.literal('tool_result'),
  tool_use_id: id,
  content: z
    .union([z.string(), z.array(z.union([Material, otherThan('text', 'image', 'document')])).max(100)])
    .nullish(),
  is_error: z.boolean().nullish(),
});
export type ResultBlock = z.output<typeof ResultBlock>;

const UserBlock = z.union([
  z.discriminatedUnion('type', [TextBlock, ImageBlock, DocumentBlock, ResultBlock]),
  otherThan('text', 'image', 'document', 'tool_result'),
]);
export type UserBlock = z.output<typeof UserBlock>;

const CallBlock = z.object({
  type: z.literal('tool_use'),
  id,
  name: z.string().min(1).max(200),
  input: z.record(z.string(), z.json()),
});
const AssistantBlock = z.union([
  z.discriminatedUnion('type', [TextBlock, CallBlock]),
  otherThan('text', 'tool_use'),
]);
export type AssistantBlock = z.output<typeof AssistantBlock>;

const SystemContent = z.union([z.string(), z.array(z.union([TextBlock, otherThan('text')]))]);
export type SystemContent = z.output<typeof SystemContent>;

const MAX_BLOCKS = 1_000;

export const Message = z.discriminatedUnion('role', [
  z.object({ role: z.literal('system'), content: SystemContent.nullish() }),
  z.object({ role: z.literal('user'), content: z.union([z.string(), z.array(UserBlock).max(MAX_BLOCKS)]) }),
  z.object({
    role: z.literal('assistant'),
    content: z.union([z.string(), z.array(AssistantBlock).max(MAX_BLOCKS)]),
  }),
]);
export type Message = z.output<typeof Message>;

const CustomTool = z.object({
  type: z.literal('custom').nullish(),
  name: CallerTool.shape.name,
  description: CallerTool.shape.description.unwrap().nullish(),
  input_schema: z.record(z.string(), z.json()),
});
const Tool = z.union([CustomTool, otherThan('custom')]);
export type Tool = z.output<typeof Tool>;

const ToolChoice = z.object({
  type: z.enum(['auto', 'any', 'tool', 'none']),
  name: z.string().optional(),
  disable_parallel_tool_use: z.boolean().nullish(),
});

const Format = z.object({ type: z.string(), schema: z.record(z.string(), z.json()).optional() });

const Thread = z.discriminatedUnion('type', [
  z.object({ type: z.literal('create') }),
  z.object({ type: z.literal('continue'), previous_message_id: id }),
]);

const PROMPT = {
  model: z.string().min(1).max(200),
  system: SystemContent.nullish(),
  messages: z.array(Message).min(1).max(10_000),
  tools: z.array(Tool).max(1_000).nullish(),
};

export const CountRequest = z.object(PROMPT);
export type CountRequest = z.output<typeof CountRequest>;

export const MessageRequest = z.object({
  ...PROMPT,
  max_tokens: z.int().min(1),
  stream: z.boolean().nullish(),
  tool_choice: ToolChoice.nullish(),
  temperature: z.number().min(0).max(1).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  stop_sequences: z.array(z.string().min(1).max(1_000)).max(16).nullish(),
  thinking: z
    .object({
      type: z.string(),
      display: z.string().nullish(),
      budget_tokens: z.int().min(1).nullish(),
    })
    .nullish(),
  output_config: z.object({ format: Format.nullish(), effort: z.string().nullish() }).nullish(),
  output_format: Format.nullish(),
  thread: Thread.nullish(),
});
export type MessageRequest = z.output<typeof MessageRequest>;

export const RequestHeaders = VendorHeaders.extend({
  'x-claude-code-session-id': z.string().optional().describe('becomes the label claude-code.session'),
});

export const ModelQuery = z.object({
  limit: z.coerce.number().int().min(1).max(1_000).default(20),
  after_id: z.string().optional(),
  before_id: z.string().optional(),
});

// Examples

export const hello = { role: 'user', content: 'count to 20' } as const;
const ASKED = { model: 'parlance', max_tokens: 1_000, messages: [hello] };
const WEATHER = {
  name: 'weather',
  description: 'The weather of a city',
  input_schema: { type: 'object', properties: { city: { type: 'string' } } },
} as const;

export const STREAMED: RequestExample = {
  title: 'Stream an answer',
  first: true,
  stream: true,
  creates: true,
  body: { ...ASKED, stream: true },
};

export const UNKNOWN: RequestExample = { probe: true, body: { ...ASKED, model: 'nobody' } };

export const examples: Examples<RequestExample> = ({ call, turn }) => [
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

// Documents

export const schemas = () => {
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

  return { MessageView, ModelList, ModelView, TokenCount };
};

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

export function description(): Description {
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

  return {
    title: 'Anthropic clients',
    summary:
      'SDKs and coding clients of the Anthropic API: set the base URL to /anthropic and the key to a token or an API key.',
    note: 'Coding clients such as Claude Code read ANTHROPIC_BASE_URL and ANTHROPIC_AUTH_TOKEN. Set MODEL_ALIASES=claude-*=parlance on the server for the names of models that they have built in.',
    scripts: [NODE_SCRIPT, THREAD_SCRIPT],
    schemas: schemas(),
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
}
