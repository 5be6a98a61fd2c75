/**
 * `anthropic`: clients of the Messages API. They send the whole conversation with each request, so a session is
 * found by a digest of its content, unless `X-Parlance-Session` names it or a thread continues an earlier
 * answer. Tools of the caller are deferred calls of the core; without any, the agent's own tools run on the
 * server, and only the answer is shown. A disconnect ends the turn that the request started. Files, batches and
 * tools that run at the vendor are not supported.
 */

import { Hono, type Context as HonoContext } from 'hono';
import type { z } from 'zod';
import { principalOfVendorClient } from '../../http/request-identity.ts';
import { defineDialect, reported, requestIds } from '../kit/dialect.ts';
import { ModelSettings, Models } from '../kit/models.ts';
import { type Progress, Sessions } from '../kit/request-sessions.ts';
import { setRetryAfter } from '../kit/retry.ts';
import { projection } from '../kit/turn-updates.ts';
import { authenticateRequest, body, SESSION_HEADER, toHeader } from '../kit/vendor-requests.ts';
import type { Context } from './context.ts';
import { errorBody, headers, refusal, statusOf } from './faults.ts';
import { answerMessage } from './messages.ts';
import { conversationOf, setupOf, termsOf } from './request.ts';

import { CountRequest, MessageRequest, ModelQuery } from './schemas.ts';
import { Threads } from './threads.ts';

export const anthropic = defineDialect({
  name: 'anthropic',
  listen: [
    { http: '/anthropic/v1/*' },
    { http: '/v1/messages/*' },
    { http: '/v1/models/*', when: { header: 'anthropic-version', as: '/anthropic/v1/models/*' } },
  ],
  alone: { at: '/v1', serves: '/anthropic/v1' },
  settings: ModelSettings,
  inbound: (ctx) => ({ routes: (app) => routes(app, ctx) }),
  projection,
  faults: { refusal, headers },
  describe: async () => (await import('./describe.ts')).description,
});

// In: the HTTP endpoints, below `/anthropic/v1` and, unless another dialect has them, below `/v1`.

function routes(app: Hono, given: Omit<Context, 'models' | 'sessions' | 'threads'>): void {
  const models = new Models(given);
  const started = given.now();
  const ctx: Context = { ...given, models, sessions: new Sessions(given), threads: new Threads(given) };
  const messages = new Hono();
  const listed = new Hono();

  messages.post('/', (c) =>
    answered(ctx, c, async (progress) => {
      const asked = await authenticateRequest(ctx, c.req.raw, progress);
      return answerMessage(ctx, asked, await body(ctx, c.req.raw, MessageRequest));
    }),
  );

  messages.post('/count_tokens', (c) =>
    answered(ctx, c, async () => {
      const principal = await principalOfVendorClient(ctx.authenticator, c.req.raw);
      const counted = await body(ctx, c.req.raw, CountRequest);
      const { agent } = models.choose(counted.model);
      const { items } = conversationOf(counted.messages);
      const asked = { agent, items, terms: termsOf(setupOf(counted)) };
      return c.json({ input_tokens: ctx.engine.promptTokens(principal, asked) });
    }),
  );

  listed.get('/', (c) =>
    answered(ctx, c, async () => {
      await principalOfVendorClient(ctx.authenticator, c.req.raw);
      const query = ModelQuery.safeParse(c.req.query());
      const list = models.list().map((id) => modelObject(id, started));
      return c.json(modelPage(list, query.data ?? ModelQuery.parse({})));
    }),
  );

  listed.get('/:model', (c) =>
    answered(ctx, c, async () => {
      await principalOfVendorClient(ctx.authenticator, c.req.raw);
      return c.json(modelObject(models.find(c.req.param('model')), started));
    }),
  );

  app.route('/anthropic/v1/models', listed);
  for (const base of ['/anthropic/v1', '/v1']) app.route(`${base}/messages`, messages);
}

type Work = (progress: Progress) => Promise<Response>;

/**
 * Responds with the result of `work`, or with its fault. Every response has the ids of the request and of its
 * session.
 */
async function answered(ctx: Context, c: HonoContext, work: Work): Promise<Response> {
  const progress: Progress = { session: null, accepted: false };
  const limited = async () => {
    ctx.countRequest(c.req.raw);
    return work(progress);
  };
  const response = await limited().catch((thrown: unknown) => failed(ctx, c, { thrown, progress }));
  for (const [name, value] of Object.entries(headers(c.req.raw))) response.headers.set(name, value);
  if (progress.session !== null) response.headers.set(SESSION_HEADER, toHeader(progress.session));
  return response;
}

function failed(
  ctx: Context,
  c: HonoContext,
  { thrown, progress }: { readonly thrown: unknown; readonly progress: Progress },
): Response {
  const { request = '', ...ids } = requestIds(c.req.raw);
  const fault = reported(thrown, ctx, { request, ...ids });
  setRetryAfter(c, fault);
  // The vendor's clients retry by themselves, which would start a second turn.
  if (progress.accepted) c.header('x-should-retry', 'false');
  return c.json(errorBody(fault, request), statusOf(fault));
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
