/** In: the HTTP endpoints, below `/openai/v1` and, as far as no other dialect has them, below `/v1`. */
import { Hono, type Context as HonoContext } from 'hono';
import { principalOfVendorClient } from '../../http/request-identity.ts';
import { reported, requestIds } from '../shared/dialect.ts';
import { Models } from '../shared/exchange/models.ts';
import { askedBy, body, SESSION_HEADER, toHeader } from '../shared/exchange/requests.ts';
import { type Progress, Sessions } from '../shared/exchange/sessions.ts';
import { sayRetryAfter } from '../shared/retry.ts';
import { answerChat } from './chat.ts';
import type { Context } from './context.ts';
import { errorBody, statusOf } from './faults.ts';
import { modelObject } from './model-object.ts';
import { ChatRequest } from './schemas.ts';

/** Below `/v1` of the default listener. One that ends in a star is also the path without it. */
export const HTTP_PATHS = ['/chat/completions', '/models/*'] as const;

export function routes(app: Hono, given: Omit<Context, 'models' | 'sessions'>): void {
  const models = new Models(given);
  const started = Math.floor(given.now() / 1000);
  const ctx: Context = { ...given, models, sessions: new Sessions(given) };
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
      const asked = await askedBy(ctx, c.req.raw, progress);
      return answerChat(ctx, asked, await body(ctx, c.req.raw, ChatRequest));
    }),
  );

  app.route('/openai/v1', api);
  app.route('/v1', api);
}

type Work = (progress: Progress) => Promise<Response>;

/** Answers with what `work` returns, or with its failure. Every answer names the session that it is in. */
async function answered(ctx: Context, c: HonoContext, work: Work): Promise<Response> {
  const progress: Progress = { session: null, accepted: false };
  const limited = async () => {
    ctx.asked(c.req.raw);
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
  sayRetryAfter(c, fault);
  // The vendor's clients try again by themselves, which would be a second turn.
  if (progress.accepted) c.header('x-should-retry', 'false');
  return c.json(errorBody(fault), statusOf(fault));
}
