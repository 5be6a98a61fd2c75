/** Schemas of Responses API requests. Unknown fields are ignored. */
import { CallerTool } from '@parlance/protocol';
import { z } from 'zod';

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
export type Content = z.output<typeof Content>;

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
  z.object({ type: z.literal('text') }),
  z.object({ type: z.literal('json_object') }),
  z.object({
    type: z.literal('json_schema'),
    name: z.string().max(64).optional(),
    schema: z.record(z.string(), z.json()).default({}),
    strict: z.boolean().nullish(),
  }),
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
});
export type ResponseRequest = z.output<typeof ResponseRequest>;

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
  }),
});
export type RequestData = z.output<typeof RequestData>['response'];
