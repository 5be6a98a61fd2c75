/**
 * `anthropic`: clients of the Messages API. They send the whole conversation with each request, so a session is
 * found by a digest of its content, unless `X-Parlance-Session` names it or a thread continues an earlier
 * answer. Tools of the caller are deferred calls of the core; without any, the agent's own tools run on the
 * server, and only the answer is shown. A disconnect ends the turn that the request started. Files, batches and
 * tools that run at the vendor are not supported.
 */

import type { z } from 'zod';
import type { Examples, RequestExample } from '../kit/description.ts';
import { defineDialect, requestIds } from '../kit/dialect.ts';
import { endpointOf } from '../kit/endpoint.ts';
import { ModelSettings, Models } from '../kit/models.ts';
import { Sessions } from '../kit/request-sessions.ts';
import { projection } from '../kit/turn-updates.ts';
import { progressOf, VENDOR_REST, vendorRequest } from '../kit/vendor-requests.ts';
import type { Context } from './context.ts';
import type { schemas } from './describe.ts';
import { errorBody, headers, refusal, statusOf } from './faults.ts';
import { answerMessage } from './messages.ts';
import { conversationOf, setupOf, termsOf } from './request.ts';
import { CountRequest, MessageRequest, ModelQuery, RequestHeaders } from './schemas.ts';
import { Threads } from './threads.ts';

/** `started` is the start of the server. */
type RestContext = Context & { readonly started: number };

const endpoint = endpointOf<RestContext, typeof schemas>();

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

const messages = <const Base extends string>(base: Base) => [
  endpoint({
    method: 'post',
    path: `${base}/messages`,
    summary: 'The answer to a conversation, whole or as a stream',
    security: 'caller',
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
    errors: [400, 401, 402, 403, 404, 409, 413, 422, 429, 502, 503, 529],
    handle: ({ c, principal, body }, ctx) => answerMessage(ctx, vendorRequest(c, principal), body),
  }),
  endpoint({
    method: 'post',
    path: `${base}/messages/count_tokens`,
    summary: 'An estimate of the tokens of a prompt',
    security: 'caller',
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
    security: 'caller',
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
    security: 'caller',
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
  inbound: (ctx) => ({
    rest: {
      ...ctx,
      models: new Models(ctx),
      sessions: new Sessions(ctx),
      threads: new Threads(ctx),
      started: ctx.now(),
    },
  }),
  rest: {
    ...VENDOR_REST,
    endpoints: [...models, ...messages('/anthropic/v1'), ...messages('/v1')],
    async around(c, answer) {
      const response = await VENDOR_REST.around(c, answer);
      for (const [name, value] of Object.entries(headers(c.req.raw))) response.headers.set(name, value);
      return response;
    },
    fault(fault, c) {
      // The vendor's clients retry by themselves, which would start a second turn.
      if (progressOf(c).accepted) c.header('x-should-retry', 'false');
      return c.json(errorBody(fault, requestIds(c.req.raw).request ?? ''), statusOf(fault));
    },
  },
  projection,
  faults: { refusal, headers },
  describe: async () => (await import('./describe.ts')).description,
});

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
