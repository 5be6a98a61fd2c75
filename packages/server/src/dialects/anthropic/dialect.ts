/**
 * `anthropic`: clients of the Messages API. They send the whole conversation with each request, so a session is
 * found by a digest of its content, unless `X-Parlance-Session` names it or a thread continues an earlier
 * answer. Tools of the caller are deferred calls of the core; without any, the agent's own tools run on the
 * server, and only the answer is shown. A disconnect ends the turn that the request started. Files, batches and
 * tools that run at the vendor are not supported.
 *
 * The protocol is in `dialect.ts`, `contract.ts`, `inbound.ts` and `outbound.ts`. Beside it: `threads.ts` continues stored answers.
 */

import type { z } from 'zod';
import { requestIdOf } from '../../http/request-id.ts';
import type { ChatRequest } from '../kit/chat-request.ts';
import { defineDialect } from '../kit/dialect.ts';
import { endpointOf } from '../kit/endpoint.ts';
import { projection } from '../kit/turn-updates.ts';
import {
  type AnsweredRequest,
  type AuthenticatedRequest,
  beginAnswer,
  ModelSettings,
  streamedAnswer,
  VENDOR_REST,
  type VendorContext,
  vendorContext,
  vendorError,
  vendorRequest,
  wholeAnswer,
} from '../kit/vendor-requests.ts';
import {
  CountRequest,
  description,
  examples,
  hello,
  MessageRequest,
  ModelQuery,
  RequestHeaders,
  STREAMED,
  type schemas,
  UNKNOWN,
} from './contract.ts';
import { chatRequestOf, conversationOf, setupOf, showsThinking, termsOf } from './inbound.ts';
import {
  errorBody,
  type Head,
  headers,
  MessageEvents,
  messageObject,
  refusal,
  statusOf,
} from './outbound.ts';
import { storedSetup, Threads } from './threads.ts';

type Context = VendorContext & { readonly threads: Threads };

const endpoint = endpointOf<Context, ReturnType<typeof schemas>>();

const HEADERS = {
  'x-parlance-session': 'the session of the answer',
  'request-id': 'the id of the request in the log',
};

const messages = <const Base extends string>(base: Base) => [
  endpoint({
    method: 'post',
    path: `${base}/messages`,
    summary: 'The answer to a conversation, whole or as a stream',
    headers: RequestHeaders,
    body: MessageRequest,
    examples: base === '/v1' ? () => [STREAMED, UNKNOWN] : examples,
    answers: {
      200: [
        {
          description: 'The answer, whole or as server-sent events',
          schema: 'MessageView',
          headers: HEADERS,
        },
        {
          description: '',
          type: 'text/event-stream',
          text: '`message_start`, the events of each block, `message_delta`, `message_stop`',
        },
      ],
    },
    errors: [400, 401, 402, 403, 404, 409, 413, 429, 502, 503, 529],
    handle: ({ c, principal, body }, ctx) => answerMessage(ctx, vendorRequest(c, principal), body),
  }),
  endpoint({
    method: 'post',
    path: `${base}/messages/count_tokens`,
    summary: 'An estimate of the tokens of a prompt',
    body: CountRequest,
    examples: () => [{ body: { model: 'parlance', messages: [hello] } }],
    answers: { 200: { description: 'The estimate', schema: 'TokenCount' } },
    errors: [400, 401, 404, 413, 429],
    handle({ principal, body }, { engine, models }) {
      const { agent } = models.choose(body.model);
      const { items } = conversationOf(body.messages);
      const asked = { agent, items, terms: termsOf(setupOf(body)) };
      return { input_tokens: engine.promptTokens(principal, asked) };
    },
  }),
];

const models = [
  endpoint({
    method: 'get',
    path: '/anthropic/v1/models',
    summary:
      'The models and agents that a request may name; also at `/v1/models` with a header `anthropic-version`',
    query: ModelQuery,
    answers: { 200: { description: 'A page of the list', schema: 'ModelList' } },
    errors: [400, 401],
    handle: ({ query }, { models, started }) =>
      modelPage(
        models.list().map((id) => modelObject(id, started)),
        query,
      ),
  }),
  endpoint({
    method: 'get',
    path: '/anthropic/v1/models/{model}',
    summary: 'A model or agent',
    examples: () => [{ params: { model: 'parlance' } }, { params: { model: 'nobody' }, probe: true }],
    answers: { 200: { description: 'The model', schema: 'ModelView' } },
    errors: [401, 404],
    handle: ({ params }, { models, started }) => modelObject(models.find(params.model), started),
  }),
];

export const anthropic = defineDialect({
  name: 'anthropic',
  listen: [
    { http: '/anthropic/v1/*' },
    { http: '/v1/messages/*' },
    { http: '/v1/models/*', when: { header: 'anthropic-version', as: '/anthropic/v1/models/*' } },
  ],
  alone: { at: '/v1', serves: '/anthropic/v1' },
  settings: ModelSettings,
  inbound: (ctx) => ({ rest: { ...vendorContext(ctx), threads: new Threads(ctx) } }),
  rest: {
    ...VENDOR_REST,
    endpoints: [...models, ...messages('/anthropic/v1'), ...messages('/v1')],
    async around(c, answer) {
      const response = await VENDOR_REST.around(c, answer);
      for (const [name, value] of Object.entries(headers(c.req.raw))) response.headers.set(name, value);
      return response;
    },
    fault: (fault, c) =>
      vendorError(c, errorBody(fault, requestIdOf(c.req.raw)), { status: statusOf(fault), fault }),
  },
  projection,
  faults: { refusal, headers },
  describe: async () => description(),
});

// `POST /messages`

async function answerMessage(
  ctx: Context,
  incoming: AuthenticatedRequest,
  body: MessageRequest,
): Promise<Response> {
  const { request } = incoming;
  const answering = await begin(ctx, incoming, body);
  const { head, answer } = answering;
  if (body.stream)
    return streamedAnswer(ctx, request, answering, new MessageEvents(head, requestIdOf(request)));
  await wholeAnswer(request, answering);
  return Response.json(messageObject(head, answer));
}

async function begin(ctx: Context, incoming: AuthenticatedRequest, body: MessageRequest) {
  const { chat, release } = await threaded(ctx, chatRequestOf(ctx, incoming, body), body);
  try {
    const answered = await beginAnswer(ctx, chat, incoming.progress, body.stream === true);
    const { started, model } = answered;
    const { tokens } = await ctx.engine.contextUse(started.ref);
    const head: Head = {
      id: `msg_${started.start.id.replace(/[^\w-]/g, '')}`,
      get model() {
        return answered.answer.fallback.name ?? model;
      },
      inputTokens: Math.max(1, Math.ceil(tokens)),
      showsThinking: showsThinking(body),
    };
    const finished = finish(ctx, chat, { ...answered, id: head.id, thread: body.thread }).finally(release);
    finished.catch(() => undefined);
    return { ...answered, head, finished };
  } catch (thrown) {
    release();
    throw thrown;
  }
}

/** Places the chat in the thread that the request creates or continues. */
async function threaded(
  ctx: Context,
  chat: ChatRequest,
  body: MessageRequest,
): Promise<{ readonly chat: ChatRequest; readonly release: () => void }> {
  const { thread } = body;
  const given = setupOf(body);
  if (thread?.type !== 'continue')
    return {
      chat: thread ? { ...chat, data: storedSetup(given) } : chat,
      release: () => undefined,
    };
  const { record, setup, release } = await ctx.threads.claim(chat, thread.previous_message_id, given);
  const terms = { ...chat.terms, ...termsOf(setup) };
  return { chat: { ...chat, session: record.ref.id, terms }, release };
}

/** Resolves when the next request can continue the answer, which has this id. */
async function finish(
  { sessions, threads }: Context,
  chat: ChatRequest,
  {
    started,
    requestTurn,
    answer,
    id,
    thread,
  }: AnsweredRequest & { readonly id: string; readonly thread: MessageRequest['thread'] },
): Promise<void> {
  await requestTurn.done;
  if (thread && !started.again) await threads.keep(started, chat, { id, created: thread.type === 'create' });
  await sessions.remember(started, chat, answer.items);
}

// Models as the API lists them. `created_at` is the start of the server.

const modelObject = (id: string, started: number) => ({
  type: 'model' as const,
  id,
  display_name: id,
  created_at: new Date(started).toISOString(),
});

type Model = ReturnType<typeof modelObject>;

/** One page of the list. Unknown ids are ignored. */
function modelPage(models: readonly Model[], query: z.output<typeof ModelQuery>) {
  const { limit, after_id, before_id } = query;
  const at = (id: string | undefined) => models.findIndex((model) => model.id === id);
  const rest = models.slice(at(after_id) + 1);
  const end = at(before_id) < 0 ? rest.length : Math.max(0, at(before_id) - at(after_id) - 1);
  const found = rest.slice(0, end);
  // With `before_id`, the page is the one directly before it.
  const data = before_id !== undefined ? found.slice(-limit) : found.slice(0, limit);
  return {
    data,
    has_more: found.length > data.length,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  };
}
