/** In: the HTTP endpoints, below `/openai/v1` and, unless another dialect has them, below `/v1`. */
import type { Principal } from '@parlance/protocol';
import type { Context as HonoContext } from 'hono';
import type { Examples, RequestExample } from '../kit/description.ts';
import type { DialectContext } from '../kit/dialect.ts';
import { endpointOf, type RestApi } from '../kit/endpoint.ts';
import { progressOf, VENDOR_REST, vendorRequest } from '../kit/vendor-requests.ts';
import { answerChat } from './chat.ts';
import type { Context } from './context.ts';
import {
  ConversationCreate,
  ConversationUpdate,
  createConversation,
  deleteConversation,
  listConversationItems,
  retrieveConversation,
  updateConversation,
} from './conversations.ts';
import type { schemas } from './describe.ts';
import { errorBody, statusOf } from './faults.ts';
import { createResponse } from './responses/create.ts';
import { PageQuery } from './responses/list.ts';
import { positionOf } from './responses/response-id.ts';
import { ResponseRequest } from './responses/schemas.ts';
import {
  cancelResponse,
  deleteResponse,
  listInputItems,
  type ResponseRef,
  retrieveResponse,
  StreamQuery,
} from './responses/stored.ts';
import { CompletionRequest, RequestHeaders } from './schemas.ts';

/** `started` is the start of the server, in seconds. */
type RestContext = Context & { readonly started: number };

const endpoint = endpointOf<RestContext, typeof schemas>();

const SESSION = { 'x-parlance-session': 'the session of the answer' };

type NamedRequest = {
  readonly c: HonoContext;
  readonly principal: Principal;
  readonly request: Request;
  readonly params: { readonly id: string };
};

/** Answers about something stored. The answer names its session. */
async function stored(
  { c, principal, request, params }: NamedRequest,
  session: string | undefined,
  work: (ref: ResponseRef) => Promise<Response>,
): Promise<Response> {
  const response = await work({ principal, request, id: params.id });
  progressOf(c).session = session ?? null;
  return response;
}

const hello = { role: 'user', content: 'count to 20' } as const;
const WEATHER = {
  type: 'function',
  function: {
    name: 'weather',
    description: 'The weather of a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
} as const;

const STREAMED: RequestExample = {
  title: 'Stream an answer',
  first: true,
  stream: true,
  creates: true,
  body: { model: 'parlance', messages: [hello], stream: true },
};

const UNKNOWN: RequestExample = { probe: true, body: { model: 'nobody', messages: [hello] } };

const examples: Examples<RequestExample> = ({ call }) => [
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

const modelEndpoints = <const Base extends string>(base: Base) => [
  endpoint({
    method: 'get',
    path: `${base}/models`,
    summary: 'The models and agents that a request may name',
    security: 'caller',
    answers: { 200: { description: 'The list', schema: 'ModelList' } },
    errors: [401],
    handle: (_, { about, models, started }) => ({
      object: 'list',
      data: models.list().map((id) => modelObject(about, id, started)),
    }),
  }),
  endpoint({
    method: 'get',
    path: `${base}/models/{model}`,
    summary: 'A model or agent',
    security: 'caller',
    examples: () => [{ params: { model: 'parlance' } }, { params: { model: 'nobody' }, probe: true }],
    answers: { 200: { description: 'The model', schema: 'ModelView' } },
    errors: [401, 404],
    handle: ({ params }, { about, models, started }) =>
      modelObject(about, models.find(params.model), started),
  }),
  endpoint({
    method: 'post',
    path: `${base}/chat/completions`,
    summary: 'Chat Completions: the answer to a conversation, whole or as a stream',
    security: 'caller',
    headers: RequestHeaders,
    body: CompletionRequest,
    examples: base === '/v1' ? () => [STREAMED, UNKNOWN] : examples,
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
    errors: [400, 401, 402, 403, 404, 409, 413, 422, 429, 502, 503],
    handle: ({ c, principal, body }, ctx) => answerChat(ctx, vendorRequest(c, principal), body),
  }),
];

const STREAM = {
  description: '',
  type: 'text/event-stream',
  text: '`response.created` to `response.completed`, numbered',
} as const;

const STREAMED_RESPONSE: RequestExample = {
  title: 'Stream a response',
  stream: true,
  creates: true,
  body: { model: 'parlance', input: 'count to 20', stream: true },
};

const responseExamples: Examples<RequestExample> = (ids) => [
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

const byResponse: Examples<RequestExample> = ({ response }) => [{ params: { id: response } }];

const responseEndpoints = <const Base extends string>(base: Base) => [
  endpoint({
    method: 'post',
    path: `${base}/responses`,
    summary: 'Responses: the answer to an input, whole, as a stream, or in the background',
    security: 'caller',
    headers: RequestHeaders,
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
    errors: [400, 401, 402, 403, 404, 409, 413, 422, 429, 502, 503],
    handle: ({ c, principal, body }, ctx) => createResponse(ctx, vendorRequest(c, principal), body),
  }),
  endpoint({
    method: 'get',
    path: `${base}/responses/{id}`,
    summary: 'A stored response, whole, or its events after a number',
    security: 'caller',
    query: StreamQuery,
    examples: byResponse,
    answers: {
      200: [{ description: 'The response', schema: 'ResponseView', headers: SESSION }, STREAM],
    },
    errors: [400, 401, 404],
    handle: (request, ctx) =>
      stored(request, positionOf(request.params.id)?.session, (ref) =>
        retrieveResponse(ctx, ref, request.query),
      ),
  }),
  endpoint({
    method: 'delete',
    path: `${base}/responses/{id}`,
    summary: 'Deletes a stored response; its session stays',
    security: 'caller',
    examples: byResponse,
    answers: { 200: { description: 'Deleted', schema: 'ResponseDeleted' } },
    errors: [401, 404],
    handle: (request, ctx) =>
      stored(request, positionOf(request.params.id)?.session, (ref) => deleteResponse(ctx, ref)),
  }),
  endpoint({
    method: 'post',
    path: `${base}/responses/{id}/cancel`,
    summary: 'Cancels a response that is not complete',
    security: 'caller',
    examples: byResponse,
    answers: { 200: { description: 'The response', schema: 'ResponseView' } },
    errors: [401, 404],
    handle: (request, ctx) =>
      stored(request, positionOf(request.params.id)?.session, (ref) => cancelResponse(ctx, ref)),
  }),
  endpoint({
    method: 'get',
    path: `${base}/responses/{id}/input_items`,
    summary: 'The input of a stored response',
    security: 'caller',
    query: PageQuery,
    examples: byResponse,
    answers: { 200: { description: 'A page', schema: 'ItemList' } },
    errors: [400, 401, 404],
    handle: (request, ctx) =>
      stored(request, positionOf(request.params.id)?.session, (ref) =>
        listInputItems(ctx, ref, request.query),
      ),
  }),
];

const CONVERSATION = '/openai/v1/conversations/{id}';
const byConversation: Examples<RequestExample> = ({ session }) => [{ params: { id: session } }];

const conversationEndpoints = [
  endpoint({
    method: 'post',
    path: '/openai/v1/conversations',
    summary: 'Creates a conversation: a session',
    security: 'caller',
    body: ConversationCreate,
    examples: () => [{ creates: true, body: { metadata: { topic: 'numbers' } } }],
    answers: { 200: { description: 'The conversation', schema: 'ConversationView' } },
    errors: [400, 401, 413],
    handle: ({ principal, request, body }, ctx) => createConversation(ctx, { principal, request }, body),
  }),
  endpoint({
    method: 'get',
    path: CONVERSATION,
    summary: 'A conversation',
    security: 'caller',
    examples: byConversation,
    answers: { 200: { description: 'The conversation', schema: 'ConversationView' } },
    errors: [401, 404],
    handle: (request, ctx) => stored(request, request.params.id, (ref) => retrieveConversation(ctx, ref)),
  }),
  endpoint({
    method: 'post',
    path: CONVERSATION,
    summary: 'Replaces the metadata of a conversation',
    security: 'caller',
    body: ConversationUpdate,
    examples: ({ session }) => [{ params: { id: session }, body: { metadata: { topic: 'letters' } } }],
    answers: { 200: { description: 'The conversation', schema: 'ConversationView' } },
    errors: [400, 401, 404],
    handle: (request, ctx) =>
      stored(request, request.params.id, (ref) => updateConversation(ctx, ref, request.body)),
  }),
  endpoint({
    method: 'delete',
    path: CONVERSATION,
    summary: 'Archives the session of a conversation',
    security: 'caller',
    examples: byConversation,
    answers: { 200: { description: 'Deleted', schema: 'ConversationDeleted' } },
    errors: [401, 404],
    handle: (request, ctx) => stored(request, request.params.id, (ref) => deleteConversation(ctx, ref)),
  }),
  endpoint({
    method: 'get',
    path: `${CONVERSATION}/items`,
    summary: 'The messages of a conversation',
    security: 'caller',
    query: PageQuery,
    examples: byConversation,
    answers: { 200: { description: 'A page', schema: 'ItemList' } },
    errors: [400, 401, 404],
    handle: (request, ctx) =>
      stored(request, request.params.id, (ref) => listConversationItems(ctx, ref, request.query)),
  }),
];

/** A model as the API lists it. `created` is the start of the server, in seconds. */
const modelObject = (
  about: Pick<DialectContext['about'], 'model' | 'provider'>,
  id: string,
  created: number,
) => ({
  id,
  object: 'model' as const,
  created,
  owned_by: id === about.model ? about.provider : 'parlance',
});

export const rest: RestApi<RestContext> = {
  ...VENDOR_REST,
  endpoints: [
    ...modelEndpoints('/openai/v1'),
    ...responseEndpoints('/openai/v1'),
    ...conversationEndpoints,
    ...modelEndpoints('/v1'),
    ...responseEndpoints('/v1'),
  ],
  fault(fault, c) {
    // The vendor's clients try again by themselves, which would be a second turn.
    if (progressOf(c).accepted) c.header('x-should-retry', 'false');
    return c.json(errorBody(fault), statusOf(fault));
  },
};
