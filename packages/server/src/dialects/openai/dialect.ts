/**
 * `openai`: clients of the OpenAI API. They send the whole conversation with each request, so a session is
 * found by a digest of its content, unless `X-Parlance-Session` names it. Tools of the caller are deferred
 * calls of the core; without any, the agent's own tools run on the server, and only the answer is shown. A
 * disconnect ends the turn that the request started.
 *
 * The protocol is in `dialect.ts` (endpoints), `contract.ts` (requests and errors), `chat.ts` (Chat Completions) and `endpoints.ts` of Responses.
 * Beside it: `describe.ts` is what the documents say of answers, `input.ts` converts messages and items, `conversations.ts` serves the
 * Conversations API. Responses have `request.ts` (in), `follower.ts` (out: from the updates of a turn), `objects.ts` (their parts and ids) and
 * `socket.ts` (the WebSocket).
 */
import type { Context as HonoContext } from 'hono';
import type { Examples, RequestExample } from '../kit/description.ts';
import { defineDialect } from '../kit/dialect.ts';
import { endpointOf } from '../kit/endpoint.ts';
import { projection } from '../kit/turn-updates.ts';
import {
  ModelSettings,
  progressOf,
  VENDOR_REST,
  type VendorContext,
  VendorHeaders,
  vendorContext,
  vendorError,
  vendorRequest,
} from '../kit/vendor-requests.ts';
import { answerChat } from './chat.ts';
import {
  CompactRequest,
  CompletionRequest,
  ConversationCreate,
  ConversationUpdate,
  chatExamples,
  errorBody,
  ItemsCreate,
  PageQuery,
  ResponseRequest,
  refusal,
  responseExamples,
  STREAMED,
  STREAMED_RESPONSE,
  StreamQuery,
  statusOf,
  UNKNOWN,
} from './contract.ts';
import {
  conversationPage,
  createConversation,
  createItems,
  deleteConversation,
  deleteItem,
  findConversation,
  findItem,
  ItemPositions,
  retrieveConversation,
  updateConversation,
} from './conversations.ts';
import type { schemas } from './describe.ts';
import {
  cancelResponse,
  compactConversation,
  createResponse,
  deleteResponse,
  listInputItems,
  retrieveResponse,
} from './responses/endpoints.ts';
import { positionOf } from './responses/objects.ts';
import { HANDSHAKE_HEADERS, openSocket } from './responses/socket.ts';

type Context = VendorContext & { readonly positions: ItemPositions };

const endpoint = endpointOf<Context, typeof schemas>();

const SESSION = { 'x-parlance-session': 'the session of the answer' };

/** Answers about something stored. The answer names its session. */
async function inSession<Answer>(
  c: HonoContext,
  session: string | undefined,
  answer: Promise<Answer>,
): Promise<Answer> {
  const found = await answer;
  progressOf(c).session = session ?? null;
  return found;
}

const modelEndpoints = <const Base extends string>(base: Base) => [
  endpoint({
    method: 'get',
    path: `${base}/models`,
    summary: 'The models and agents that a request may name',
    answers: { 200: { description: 'The list', schema: 'ModelList' } },
    errors: [401],
    handle: (_, ctx) => ({ object: 'list', data: ctx.models.list().map((id) => modelObject(ctx, id)) }),
  }),
  endpoint({
    method: 'get',
    path: `${base}/models/{model}`,
    summary: 'A model or agent',
    examples: () => [{ params: { model: 'parlance' } }, { params: { model: 'nobody' }, probe: true }],
    answers: { 200: { description: 'The model', schema: 'ModelView' } },
    errors: [401, 404],
    handle: ({ params }, ctx) => modelObject(ctx, ctx.models.find(params.model)),
  }),
  endpoint({
    method: 'post',
    path: `${base}/chat/completions`,
    summary: 'Chat Completions: the answer to a conversation, whole or as a stream',
    headers: VendorHeaders,
    body: CompletionRequest,
    examples: base === '/v1' ? () => [STREAMED, UNKNOWN] : chatExamples,
    answers: {
      200: [
        { description: 'The answer, whole or as server-sent events', schema: 'Completion', headers: SESSION },
        {
          description: '',
          type: 'text/event-stream',
          text: '`chat.completion.chunk` objects, then `[DONE]`',
        },
      ],
    },
    errors: [400, 401, 402, 403, 404, 409, 413, 429, 502, 503],
    handle: ({ c, principal, body }, ctx) => answerChat(ctx, vendorRequest(c, principal), body),
  }),
];

const STREAM = {
  description: '',
  type: 'text/event-stream',
  text: '`response.created` to `response.completed`, numbered',
} as const;

const COMPACTED: RequestExample = {
  title: 'Compact a conversation',
  body: {
    model: 'parlance',
    input: [
      { role: 'user', content: 'count to 20' },
      { role: 'assistant', content: '1, 2, 3' },
    ],
  },
};

const byResponse: Examples<RequestExample> = ({ response }) => [{ params: { id: response } }];

const responseEndpoints = <const Base extends string>(base: Base) => [
  endpoint({
    method: 'post',
    path: `${base}/responses`,
    summary: 'Responses: the answer to an input, whole, as a stream, or in the background',
    headers: VendorHeaders,
    body: ResponseRequest,
    examples: base === '/v1' ? () => [STREAMED_RESPONSE] : responseExamples,
    answers: {
      200: [
        {
          description: 'The response, whole or as server-sent events',
          schema: 'ResponseView',
          headers: SESSION,
        },
        STREAM,
      ],
    },
    errors: [400, 401, 402, 403, 404, 409, 413, 429, 502, 503],
    handle: ({ c, principal, body }, ctx) => createResponse(ctx, vendorRequest(c, principal), body),
  }),
  endpoint({
    method: 'post',
    path: `${base}/responses/compact`,
    summary: 'A shorter input that stands for a conversation',
    body: CompactRequest,
    examples: ({ response }) => [
      COMPACTED,
      { probe: true, body: { model: 'parlance', previous_response_id: response } },
    ],
    answers: { 200: { description: 'The compacted conversation', schema: 'Compaction' } },
    errors: [400, 401, 402, 403, 404, 413, 429, 502, 503],
    handle: ({ principal, request: { signal }, body }, ctx) =>
      compactConversation(ctx, { principal, signal }, body),
  }),
  endpoint({
    method: 'get',
    path: `${base}/responses/{id}`,
    summary: 'A stored response, whole, or its events after a number',
    query: StreamQuery,
    examples: byResponse,
    answers: {
      200: [{ description: 'The response', schema: 'ResponseView', headers: SESSION }, STREAM],
    },
    errors: [400, 401, 404],
    handle: ({ c, principal, request, query, params: { id } }, ctx) =>
      inSession(c, positionOf(id)?.session, retrieveResponse(ctx, { principal, request, id }, query)),
  }),
  endpoint({
    method: 'delete',
    path: `${base}/responses/{id}`,
    summary: 'Deletes a stored response; its session stays',
    examples: byResponse,
    answers: { 200: { description: 'Deleted', schema: 'ResponseDeleted' } },
    errors: [401, 404],
    handle: ({ c, principal, params: { id } }, ctx) =>
      inSession(c, positionOf(id)?.session, deleteResponse(ctx, { principal, id })),
  }),
  endpoint({
    method: 'post',
    path: `${base}/responses/{id}/cancel`,
    summary: 'Cancels a response that is not complete',
    examples: byResponse,
    answers: { 200: { description: 'The response', schema: 'ResponseView' } },
    errors: [401, 404],
    handle: ({ c, principal, params: { id } }, ctx) =>
      inSession(c, positionOf(id)?.session, cancelResponse(ctx, { principal, id })),
  }),
  endpoint({
    method: 'get',
    path: `${base}/responses/{id}/input_items`,
    summary: 'The input of a stored response',
    query: PageQuery,
    examples: byResponse,
    answers: { 200: { description: 'A page', schema: 'ItemList' } },
    errors: [400, 401, 404],
    handle: ({ c, principal, query, params: { id } }, ctx) =>
      inSession(c, positionOf(id)?.session, listInputItems(ctx, { principal, id }, query)),
  }),
];

const CONVERSATION = '/openai/v1/conversations/{id}';
const byConversation: Examples<RequestExample> = ({ session }) => [{ params: { id: session } }];

const conversationEndpoints = [
  endpoint({
    method: 'post',
    path: '/openai/v1/conversations',
    summary: 'Creates a conversation: a session',
    body: ConversationCreate,
    examples: () => [{ creates: true, body: { metadata: { topic: 'numbers' } } }],
    answers: { 200: { description: 'The conversation', schema: 'ConversationView' } },
    errors: [400, 401, 413],
    handle: ({ principal, body }, ctx) => createConversation(ctx, principal, body),
  }),
  endpoint({
    method: 'get',
    path: CONVERSATION,
    summary: 'A conversation',
    examples: byConversation,
    answers: { 200: { description: 'The conversation', schema: 'ConversationView' } },
    errors: [401, 404],
    handle: ({ c, principal, params: { id } }, ctx) =>
      inSession(c, id, retrieveConversation(ctx, { principal, id })),
  }),
  endpoint({
    method: 'post',
    path: CONVERSATION,
    summary: 'Replaces the metadata of a conversation',
    body: ConversationUpdate,
    examples: ({ session }) => [{ params: { id: session }, body: { metadata: { topic: 'letters' } } }],
    answers: { 200: { description: 'The conversation', schema: 'ConversationView' } },
    errors: [400, 401, 404],
    handle: ({ c, principal, body, params: { id } }, ctx) =>
      inSession(c, id, updateConversation(ctx, { principal, id }, body)),
  }),
  endpoint({
    method: 'delete',
    path: CONVERSATION,
    summary: 'Archives the session of a conversation',
    examples: byConversation,
    answers: { 200: { description: 'Deleted', schema: 'ConversationDeleted' } },
    errors: [401, 404],
    handle: ({ c, principal, params: { id } }, ctx) =>
      inSession(c, id, deleteConversation(ctx, { principal, id })),
  }),
  endpoint({
    method: 'get',
    path: `${CONVERSATION}/items`,
    summary: 'The items of a conversation: messages, reasoning, calls and results',
    query: PageQuery,
    examples: byConversation,
    answers: { 200: { description: 'A page', schema: 'ItemList' } },
    errors: [400, 401, 404],
    handle: ({ c, principal, query, params: { id } }, ctx) =>
      inSession(
        c,
        id,
        findConversation(ctx, { principal, id }).then((record) => conversationPage(ctx, record, query)),
      ),
  }),
];

const ITEM = `${CONVERSATION}/items/{item}` as const;
const byItem: Examples<RequestExample> = ({ session }) => [{ params: { id: session, item: 'msg_none' } }];

const itemEndpoints = [
  endpoint({
    method: 'post',
    path: `${CONVERSATION}/items`,
    summary: 'Adds items to a conversation, without a response',
    body: ItemsCreate,
    examples: ({ session }) => [
      { params: { id: session }, body: { items: [{ role: 'user', content: 'count to 3' }] } },
    ],
    answers: { 200: { description: 'The items', schema: 'ItemList' } },
    errors: [400, 401, 404, 409, 413],
    handle: ({ c, principal, body, params: { id } }, ctx) =>
      inSession(c, id, createItems(ctx, { principal, id }, body)),
  }),
  endpoint({
    method: 'get',
    path: ITEM,
    summary: 'An item of a conversation',
    examples: byItem,
    answers: { 200: { description: 'The item', schema: 'Item' } },
    errors: [401, 404],
    handle: ({ c, principal, params: { id, item } }, ctx) =>
      inSession(
        c,
        id,
        findItem(ctx, { principal, id, item }).then((found) => found.item),
      ),
  }),
  endpoint({
    method: 'delete',
    path: ITEM,
    summary: 'Removes an item from the list and from the context of the model',
    examples: byItem,
    answers: { 200: { description: 'The conversation', schema: 'ConversationView' } },
    errors: [401, 404, 409],
    handle: ({ c, principal, params: { id, item } }, ctx) =>
      inSession(c, id, deleteItem(ctx, { principal, id, item })),
  }),
];

/** A model as the API lists it. */
const modelObject = ({ about, started }: Context, id: string) => ({
  id,
  object: 'model' as const,
  created: Math.floor(started / 1000),
  owned_by: id === about.model ? about.provider : 'parlance',
});

/** Paths below `/v1` of the default listener. One that ends in `/*` also matches the path without it. */
const HTTP_PATHS = ['/chat/completions', '/models/*', '/responses/*'] as const;

export const openai = defineDialect({
  name: 'openai',
  listen: [
    ...['/openai/v1/responses', '/v1/responses'].map(
      (ws) => ({ ws, badToken: 'anonymous', vendorKey: true, headers: HANDSHAKE_HEADERS }) as const,
    ),
    { http: '/openai/v1/*' },
    ...HTTP_PATHS.map((path) => ({ http: `/v1${path}` })),
  ],
  alone: { at: '/v1', serves: '/openai/v1' },
  settings: ModelSettings,
  inbound(ctx) {
    const rest = { ...vendorContext(ctx), positions: new ItemPositions(ctx.engine) };
    return { rest, open: (socket) => openSocket(socket, rest) };
  },
  rest: {
    ...VENDOR_REST,
    endpoints: [
      ...modelEndpoints('/openai/v1'),
      ...responseEndpoints('/openai/v1'),
      ...conversationEndpoints,
      ...itemEndpoints,
      ...modelEndpoints('/v1'),
      ...responseEndpoints('/v1'),
    ],
    fault: (fault, c) => vendorError(c, errorBody(fault), { status: statusOf(fault), fault }),
  },
  projection,
  faults: { refusal },
  describe: async () => (await import('./describe.ts')).description,
});
