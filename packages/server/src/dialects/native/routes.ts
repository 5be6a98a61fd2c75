/** In: the HTTP endpoints. */
import { Hono } from 'hono';
import { principalOf } from '../../http/request-identity.ts';
import { reported, requestIds } from '../shared/dialect.ts';
import { requestLimit } from '../shared/request-limit.ts';
import { retryText, setRetryAfter } from '../shared/retry.ts';
import { aboutView } from './about.ts';
import { adminRoutes } from './admin.ts';
import { apiKeyRoutes } from './api-keys.ts';
import { approvalRoutes } from './approvals.ts';
import type { Context } from './context.ts';
import { FAULTS } from './faults.ts';
import { pairingRoutes } from './pairings.ts';
import { priceRoutes } from './prices.ts';
import { searchRoutes } from './search.ts';
import { sessionRoutes } from './sessions.ts';
import { setupRoutes } from './setup.ts';
import { shareRoutes } from './shares.ts';
import { streamRoutes } from './streams.ts';

export function routes(app: Hono, ctx: Context): void {
  const { engine, authenticator } = ctx;
  const api = new Hono();
  // A pattern ending in `/*` also matches the path without it.
  for (const path of ['/v1/sessions/*', '/v1/approvals/*', '/v1/activity', '/v1/tags', '/v1/search'])
    api.use(path, requestLimit(ctx));

  sessionRoutes(api, ctx);
  searchRoutes(api, ctx);
  shareRoutes(api, ctx);
  streamRoutes(api, ctx);
  approvalRoutes(api, ctx);
  adminRoutes(api, ctx);
  apiKeyRoutes(api, ctx);
  priceRoutes(api, ctx);
  pairingRoutes(api, ctx);
  setupRoutes(api, ctx);

  api.get('/v1/server', async (c) => {
    const principal = await principalOf(authenticator, c.req.raw);
    return c.json(aboutView(ctx.about, engine, principal));
  });

  api.get('/v1/dialects', async (c) => {
    await principalOf(authenticator, c.req.raw);
    return c.json(await ctx.about.dialectList());
  });

  api.onError((thrown, c) => {
    const fault = reported(thrown, ctx, requestIds(c.req.raw));
    setRetryAfter(c, fault);
    return c.json({ error: fault.data(), detail: retryText(fault) }, FAULTS[fault.code]);
  });
  app.route('/', api);
}
