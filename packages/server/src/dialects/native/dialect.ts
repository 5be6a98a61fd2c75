/**
 * `native`: the core's own events and commands over HTTP, for the console, the SDK and scripts. Every event and command of
 * the core is available. There are no sockets: events are read in pages or as server-sent events.
 */

import type { FaultCode } from '@parlance/protocol';
import { Hono } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { principalOf } from '../../http/request-identity.ts';
import { defineDialect, reported, requestIds } from '../kit/dialect.ts';
import { HTTP_STATUS } from '../kit/http-status.ts';
import { requestLimit } from '../kit/request-limit.ts';
import { retryText, setRetryAfter } from '../kit/retry.ts';
import type { SubscriptionHub } from '../kit/subscription-hub.ts';
import { aboutView } from './about.ts';
import { adminRoutes } from './admin.ts';
import { apiKeyRoutes } from './api-keys.ts';
import { approvalRoutes } from './approvals.ts';
import type { Context } from './context.ts';
import { pairingRoutes } from './pairings.ts';
import { priceRoutes } from './prices.ts';
import { projection } from './projection.ts';
import { searchRoutes } from './search.ts';
import { sessionRoutes } from './sessions.ts';
import { setupRoutes } from './setup.ts';
import { shareRoutes } from './shares.ts';
import { streamRoutes } from './streams.ts';

/** Paths below `/v1`. One that ends in `/*` also matches the path without it. */
const HTTP_PATHS = [
  '/sessions/*',
  '/tags',
  '/prices',
  '/search',
  '/server',
  '/dialects',
  '/activity',
  '/approvals/*',
  '/admin/*',
  '/grants',
  '/keys/*',
  '/pairings/*',
  '/auth/password',
] as const;

export const native = defineDialect({
  name: 'native',
  listen: [...HTTP_PATHS.map((path) => ({ http: `/v1${path}` })), { http: '/shared/*' }],
  inbound: (ctx, hub: SubscriptionHub<null>) => ({ routes: (app) => routes(app, { ...ctx, hub }) }),
  projection,
  describe: async () => (await import('./describe.ts')).description,
});

// In: the HTTP endpoints.

function routes(app: Hono, ctx: Context): void {
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

// Faults as HTTP statuses.

const FAULTS: Record<FaultCode, ContentfulStatusCode> = HTTP_STATUS;
