/**
 * `openai`: clients of the OpenAI API. They send the whole conversation with each request, so a session is
 * found by a digest of its content, unless `X-Parlance-Session` names it. Tools of the caller are deferred
 * calls of the core; without any, the agent's own tools run on the server, and only the answer is shown. A
 * disconnect ends the turn that the request started.
 */

import { Hono, type Context as HonoContext } from 'hono';
import { principalOfVendorClient } from '../../http/request-identity.ts';
import { type DialectContext, defineDialect, reported, requestIds } from '../kit/dialect.ts';
import { ModelSettings, Models } from '../kit/models.ts';
import { type Progress, Sessions } from '../kit/request-sessions.ts';
import { setRetryAfter } from '../kit/retry.ts';
import { projection } from '../kit/turn-updates.ts';
import { authenticateRequest, body, SESSION_HEADER, toHeader } from '../kit/vendor-requests.ts';
import { answerChat } from './chat.ts';
import type { Context } from './context.ts';
import {
  createConversation,
  deleteConversation,
  listConversationItems,
  retrieveConversation,
  updateConversation,
} from './conversations.ts';
import { errorBody, refusal, statusOf } from './faults.ts';
import { ItemPositions } from './item-positions.ts';
import { createResponse } from './responses/create.ts';
import { positionOf } from './responses/response-id.ts';
import { ResponseRequest } from './responses/schemas.ts';
import {
  cancelResponse,
  deleteResponse,
  listInputItems,
  type ResponseRef,
  retrieveResponse,
} from './responses/stored.ts';
import { CompletionRequest } from './schemas.ts';

// In: the HTTP endpoints, below `/openai/v1` and, unless another dialect has them, below `/v1`.

/** Paths below `/v1` of the default listener. One that ends in `/*` also matches the path without it. */
const HTTP_PATHS = ['/chat/completions', '/models/*', '/responses/*'] as const;

function routes(app: Hono, given: Omit<Context, 'models' | 'positions' | 'sessions'>): void {
  const models = new Models(given);
  const started = Math.floor(given.now() / 1000);
  const sessions = new Sessions(given);
  const positions = new ItemPositions(given.engine);
  const ctx: Context = { ...given, models, positions, sessions };
  const api = new Hono();

  api.get('/models', (c) =>
    answered(ctx, c, async () => {
      await principalOfVendorClient(ctx.authenticator, c.req.raw);
      return c.json({ object: 'list', data: models.list().map((id) => modelObject(ctx.about, id, started)) });
    }),
  );

  api.get('/models/:model', (c) =>
    answered(ctx, c, async () => {
      await principalOfVendorClient(ctx.authenticator, c.req.raw);
      return c.json(modelObject(ctx.about, models.find(c.req.param('model')), started));
    }),
  );

  api.post('/chat/completions', (c) =>
    answered(ctx, c, async (progress) => {
      const request = await authenticateRequest(ctx, c.req.raw, progress);
      return answerChat(ctx, request, await body(ctx, c.req.raw, CompletionRequest));
    }),
  );

  responseRoutes(api, ctx);
  app.route('/v1', api);
  // Below `/v1` conversations are another dialect's.
  conversationRoutes(api, ctx);
  app.route('/openai/v1', api);
}

function responseRoutes(api: Hono, ctx: Context): void {
  const named = (work: (ctx: Context, named: ResponseRef) => Promise<Response>) => (c: HonoContext) =>
    answered(ctx, c, async (progress) => {
      const id = c.req.param('id') ?? '';
      const principal = await principalOfVendorClient(ctx.authenticator, c.req.raw);
      const response = await work(ctx, { principal, request: c.req.raw, id });
      progress.session = positionOf(id)?.session ?? null;
      return response;
    });
  api.post('/responses', (c) =>
    answered(ctx, c, async (progress) => {
      const request = await authenticateRequest(ctx, c.req.raw, progress);
      return createResponse(ctx, request, await body(ctx, c.req.raw, ResponseRequest));
    }),
  );
  api.get('/responses/:id', named(retrieveResponse));
  api.delete('/responses/:id', named(deleteResponse));
  api.post('/responses/:id/cancel', named(cancelResponse));
  api.get('/responses/:id/input_items', named(listInputItems));
}

function conversationRoutes(api: Hono, ctx: Context): void {
  const named = (work: (ctx: Context, named: ResponseRef) => Promise<Response>) => (c: HonoContext) =>
    answered(ctx, c, async (progress) => {
      const id = c.req.param('id') ?? '';
      const principal = await principalOfVendorClient(ctx.authenticator, c.req.raw);
      const response = await work(ctx, { principal, request: c.req.raw, id });
      progress.session = id;
      return response;
    });
  api.post('/conversations', (c) =>
    answered(ctx, c, async () => {
      const principal = await principalOfVendorClient(ctx.authenticator, c.req.raw);
      return createConversation(ctx, { principal, request: c.req.raw });
    }),
  );
  api.get('/conversations/:id', named(retrieveConversation));
  api.post('/conversations/:id', named(updateConversation));
  api.delete('/conversations/:id', named(deleteConversation));
  api.get('/conversations/:id/items', named(listConversationItems));
}

type Work = (progress: Progress) => Promise<Response>;

/** Answers with what `work` returns, or with its failure. Every answer names the session that it is in. */
async function answered(ctx: Context, c: HonoContext, work: Work): Promise<Response> {
  const progress: Progress = { session: null, accepted: false };
  const limited = async () => {
    ctx.countRequest(c.req.raw);
    return work(progress);
  };
  const response = await limited().catch((thrown: unknown) => failed(ctx, c, { thrown, progress }));
  if (progress.session !== null) response.headers.set(SESSION_HEADER, toHeader(progress.session));
  return response;
}

function failed(
  ctx: Context,
  c: HonoContext,
  { thrown, progress }: { readonly thrown: unknown; readonly progress: Progress },
): Response {
  const fault = reported(thrown, ctx, requestIds(c.req.raw));
  if (fault.code === 'unauthenticated') c.header('WWW-Authenticate', 'Bearer');
  setRetryAfter(c, fault);
  // The vendor's clients try again by themselves, which would be a second turn.
  if (progress.accepted) c.header('x-should-retry', 'false');
  return c.json(errorBody(fault), statusOf(fault));
}

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

export const openai = defineDialect({
  name: 'openai',
  listen: [{ http: '/openai/v1/*' }, ...HTTP_PATHS.map((path) => ({ http: `/v1${path}` }))],
  alone: { at: '/v1', serves: '/openai/v1' },
  settings: ModelSettings,
  inbound: (ctx) => ({ routes: (app) => routes(app, ctx) }),
  projection,
  faults: { refusal },
  describe: async () => (await import('./describe.ts')).description,
});
