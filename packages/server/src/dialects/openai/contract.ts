/** The requests, as far as they are used, with examples. Unknown fields are ignored. */
import { CallerTool, type Fault, type FaultCode } from '@parlance/protocol';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { z } from 'zod';
import { RequestFault } from '../kit/chat-request.ts';
import type { Examples, RequestExample } from '../kit/description.ts';
import { HTTP_STATUS, retryText, vendorRefusal } from '../kit/faults.ts';

// Chat Completions

const TextPart = z.object({ type: z.literal('text'), text: z.string() });
const RefusalPart = z.object({ type: z.literal('refusal'), refusal: z.string() });
const ImagePart = z.object({ type: z.literal('image_url'), image_url: z.object({ url: z.string() }) });
const FilePart = z.object({
  type: z.literal('file'),
  file: z.object({ filename: z.string().optional(), file_data: z.string().optional() }),
});

const Words = z.union([z.string(), z.array(TextPart)]);
const UserContent = z.union([
  z.string(),
  z.array(z.discriminatedUnion('type', [TextPart, ImagePart, FilePart])).max(100),
]);

const ToolCall = z.object({
  id: z.string().min(1).max(200),
  type: z.literal('function').optional(),
  function: z.object({ name: z.string().min(1).max(200), arguments: z.string() }),
});

const Message = z.discriminatedUnion('role', [
  z.object({ role: z.literal('system'), content: Words }),
  z.object({ role: z.literal('developer'), content: Words }),
  z.object({ role: z.literal('user'), content: UserContent }),
  z.object({
    role: z.literal('assistant'),
    content: z.union([z.string(), z.array(z.discriminatedUnion('type', [TextPart, RefusalPart]))]).nullish(),
    refusal: z.string().nullish(),
    tool_calls: z.array(ToolCall).nullish(),
  }),
  z.object({ role: z.literal('tool'), tool_call_id: z.string().min(1).max(200), content: Words }),
]);
export type Message = z.output<typeof Message>;

const ChatFunction = z.object({
  type: z.literal('function'),
  function: z.object({
    name: CallerTool.shape.name,
    description: z.string().max(20_000).nullish(),
    parameters: z.record(z.string(), z.json()).nullish(),
  }),
});

/** Unsupported kinds of tools are left out. */
const ChatTool = z.union([
  ChatFunction,
  z.object({ type: z.string().regex(/^(?!function$)/, { abort: true }) }),
]);

const JsonFormat = z.object({
  name: z.string().max(64).optional(),
  schema: z.record(z.string(), z.json()).default({}),
  strict: z.boolean().nullish(),
});

const PLAIN_FORMATS = [
  z.object({ type: z.literal('text') }),
  z.object({ type: z.literal('json_object') }),
] as const;

const ResponseFormat = z.discriminatedUnion('type', [
  ...PLAIN_FORMATS,
  z.object({ type: z.literal('json_schema'), json_schema: JsonFormat }),
]);

export const CompletionRequest = z.object({
  model: z.string().min(1).max(200),
  messages: z.array(Message).min(1).max(10_000),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  /** there is one answer in any case */
  n: z.int().min(1).nullish(),
  tools: z.array(ChatTool).max(1_000).nullish(),
  tool_choice: z
    .union([
      z.enum(['none', 'auto', 'required']),
      z.object({ type: z.literal('function'), function: z.object({ name: z.string() }) }),
    ])
    .nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  max_tokens: z.int().min(1).nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  stop: z.union([z.string().min(1).max(1_000), z.array(z.string().min(1).max(1_000)).max(16)]).nullish(),
  response_format: ResponseFormat.nullish(),
  reasoning_effort: z.string().nullish(),
});
export type CompletionRequest = z.output<typeof CompletionRequest>;

// Responses

const Id = z.string().min(1).max(200);
/** Item ids contain the id of their session. */
const ItemId = z.string().min(1).max(2_600);

const ContentPart = z.union([
  z.object({ type: z.enum(['input_text', 'output_text', 'text', 'summary_text']), text: z.string() }),
  z.object({ type: z.literal('refusal'), refusal: z.string() }),
  z.object({ type: z.literal('input_image'), image_url: z.string().nullish() }),
  z.object({
    type: z.literal('input_file'),
    filename: z.string().nullish(),
    file_data: z.string().nullish(),
    file_url: z.string().nullish(),
  }),
]);
const Content = z.union([z.string(), z.array(ContentPart).max(100)]);
export type Content = z.output<typeof Content> | z.output<typeof UserContent>;

const Role = z.enum(['user', 'assistant', 'system', 'developer']);

const KnownItem = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message'), role: Role, content: Content }),
  z.object({ type: z.literal('reasoning') }),
  z.object({ type: z.literal('function_call'), call_id: Id, name: Id, arguments: z.string() }),
  z.object({ type: z.literal('function_call_output'), call_id: Id, output: Content }),
  z.object({
    type: z.literal('mcp_call'),
    id: ItemId,
    name: Id,
    arguments: z.string(),
    output: z.string().nullish(),
    error: z.json().optional(),
  }),
  z.object({ type: z.literal('mcp_approval_request'), id: Id }),
  z.object({
    type: z.literal('mcp_approval_response'),
    approval_request_id: Id,
    approve: z.boolean(),
    reason: z.string().max(10_000).nullish(),
  }),
  z.object({ type: z.literal('compaction'), encrypted_content: z.string().max(10_485_760) }),
]);
export type KnownItem = z.output<typeof KnownItem>;

const Reference = z.object({ type: z.literal('item_reference'), id: ItemId });

const KNOWN = [...KnownItem.options, Reference].map(({ shape }) => shape.type.value).join('|');
/** Items of unsupported tools are ignored. */
const OtherItem = z.object({ type: z.string().regex(new RegExp(`^(?!(?:${KNOWN})$)`), { abort: true }) });
const PlainMessage = z.object({ type: z.undefined().optional(), role: Role, content: Content });
/** Some clients omit the type. */
const PlainReference = z
  .strictObject({ id: ItemId })
  .transform(({ id }) => ({ type: 'item_reference' as const, id }));

const InputItem = z.union([KnownItem, PlainMessage, Reference, PlainReference, OtherItem]);
export type InputItem = z.output<typeof InputItem>;

const FunctionTool = z.object({
  type: z.literal('function'),
  name: CallerTool.shape.name,
  description: z.string().max(20_000).nullish(),
  parameters: z.record(z.string(), z.json()).nullish(),
});
const McpTool = z.object({ type: z.literal('mcp'), server_label: z.string() });
/** Unsupported kinds of tools are left out. */
const Tool = z.union([
  FunctionTool,
  McpTool,
  z.object({ type: z.string().regex(/^(?!(?:function|mcp)$)/, { abort: true }) }),
]);
export type Tool = z.output<typeof Tool>;

const TextFormat = z.discriminatedUnion('type', [
  ...PLAIN_FORMATS,
  z.object({ type: z.literal('json_schema'), ...JsonFormat.shape }),
]);

export const Metadata = z
  .record(z.string().max(64), z.string().max(512))
  .refine((pairs) => Object.keys(pairs).length <= 16, 'at most 16 pairs');

export const ResponseRequest = z.object({
  model: z.string().min(1).max(200),
  input: z.union([z.string(), z.array(InputItem).max(10_000)]).optional(),
  instructions: z.string().max(200_000).nullish(),
  previous_response_id: z.string().max(2_000).nullish(),
  conversation: z.union([Id, z.object({ id: Id })]).nullish(),
  stream: z.boolean().nullish(),
  background: z.boolean().nullish(),
  store: z.boolean().nullish(),
  metadata: Metadata.nullish(),
  tools: z.array(Tool).max(1_000).nullish(),
  tool_choice: z
    .union([
      z.enum(['none', 'auto', 'required']),
      z.object({
        type: z.string(),
        name: z.string().nullish(),
        server_label: z.string().nullish(),
        mode: z.enum(['auto', 'required']).optional(),
      }),
    ])
    .nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  max_output_tokens: z.int().min(1).nullish(),
  text: z.object({ format: TextFormat.nullish() }).nullish(),
  reasoning: z.object({ effort: z.string().nullish() }).nullish(),
  safety_identifier: z.string().max(1_000).nullish(),
  prompt_cache_key: z.string().max(1_000).nullish(),
});
export type ResponseRequest = z.output<typeof ResponseRequest>;

/** A message of a WebSocket. `stream` is implied. */
export const ResponseCreate = ResponseRequest.omit({ stream: true }).extend({
  type: z.literal('response.create'),
  /** false: nothing is generated; a later message continues from the input of this one */
  generate: z.boolean().nullish(),
  /** added to all events of the response */
  stream_id: Id.nullish(),
});

export const CompactRequest = ResponseRequest.pick({
  model: true,
  input: true,
  instructions: true,
  previous_response_id: true,
}).extend({ input: ResponseRequest.shape.input.nullable() });

/** The data of a request that is stored with the events it causes. */
export const RequestData = z.object({
  response: z.object({
    /** the same for all events of a request */
    request: z.string(),
    previous: z.string().nullable(),
    /** the request named the session as a conversation */
    conversation: z.boolean(),
    background: z.boolean(),
    store: z.boolean(),
    metadata: Metadata,
    /** length of `instructions`; messages to the model follow them */
    instructions: z.int().nullable(),
    /** the calls whose results the request has */
    results: z.array(z.string()).optional(),
    /** repeated in the response */
    safetyIdentifier: z.string().optional(),
    promptCacheKey: z.string().optional(),
  }),
});
export type RequestData = z.output<typeof RequestData>['response'];

export const StreamQuery = z.object({
  stream: z.enum(['true', 'false']).optional(),
  starting_after: z.coerce.number().int().min(0).optional(),
});

// Conversations

export const ConversationCreate = z.object({
  metadata: Metadata.nullish(),
  items: ResponseRequest.shape.input.nullish(),
});
export const ConversationUpdate = z.object({ metadata: Metadata.nullable() });

export const ItemsCreate = z.object({ items: z.array(InputItem).min(1).max(1_000) });

// Lists of items

export const PageQuery = z.object({
  order: z.enum(['asc', 'desc']).default('desc'),
  /** ids of items have the name of their session */
  after: z.string().max(2_600).optional(),
  limit: z.coerce.number().int().min(1).max(100).default(20),
});
export type PageQuery = z.output<typeof PageQuery>;

// Examples

const hello = { role: 'user', content: 'count to 20' } as const;
const WEATHER = {
  type: 'function',
  function: {
    name: 'weather',
    description: 'The weather of a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
} as const;

export const STREAMED: RequestExample = {
  title: 'Stream an answer',
  first: true,
  stream: true,
  creates: true,
  body: { model: 'parlance', messages: [hello], stream: true },
};

export const UNKNOWN: RequestExample = { probe: true, body: { model: 'nobody', messages: [hello] } };

export const chatExamples: Examples<RequestExample> = ({ call }) => [
  STREAMED,
  {
    title: 'With tools of the caller',
    creates: true,
    body: { model: 'parlance', messages: [hello], tools: [WEATHER] },
  },
  {
    title: 'With a history and results',
    creates: true,
    body: {
      model: 'parlance',
      messages: [
        { role: 'system', content: 'Be brief.' },
        hello,
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: call, type: 'function', function: { name: 'weather', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: call, content: 'sunny' },
        { role: 'user', content: 'count to 3' },
      ],
    },
  },
  UNKNOWN,
];

export const STREAMED_RESPONSE: RequestExample = {
  title: 'Stream a response',
  stream: true,
  creates: true,
  body: { model: 'parlance', input: 'count to 20', stream: true },
};

export const responseExamples: Examples<RequestExample> = (ids) => [
  STREAMED_RESPONSE,
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

// Faults

export type ErrorBody = {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string | null;
  };
};

const STATUSES: Record<FaultCode, ContentfulStatusCode> = { ...HTTP_STATUS, context_too_long: 400 };

export const statusOf = (fault: Fault): ContentfulStatusCode => vendorRefusal(fault) ?? STATUSES[fault.code];

const CODES: Partial<Record<FaultCode, string>> = {
  unauthenticated: 'invalid_api_key',
  context_too_long: 'context_length_exceeded',
  limited: 'rate_limit_exceeded',
  provider_limited: 'rate_limit_exceeded',
  budget_exhausted: 'insufficient_quota',
};

export const errorBody = (fault: Fault): ErrorBody => {
  const { param, apiCode } =
    fault instanceof RequestFault
      ? fault
      : { param: fault.code === 'empty' ? 'messages' : null, apiCode: null };
  return body(statusOf(fault), {
    message: retryText(fault),
    param,
    code: apiCode ?? codeOf(fault),
  });
};

function codeOf(fault: Fault): string | null {
  const isQuota = fault.code === 'provider_limited' && vendorRefusal(fault) !== undefined;
  return isQuota ? 'insufficient_quota' : (CODES[fault.code] ?? null);
}

/** The origin is not allowed, the endpoint does not exist, or an error occurred. */
export const refusal = (status: number, message: string): ErrorBody =>
  body(status, { message, param: null, code: null });

const body = (status: number, error: Omit<ErrorBody['error'], 'type'>): ErrorBody => ({
  error: { message: error.message, type: typeOf(status), param: error.param, code: error.code },
});

function typeOf(status: number): string {
  if (status === 429) return 'rate_limit_error';
  return status < 500 ? 'invalid_request_error' : 'server_error';
}
