/**
 * `native`: the core's own events and commands over HTTP, for the console, the SDK and scripts. Every event and command of
 * the core is available. There are no sockets: events are read in pages or as server-sent events.
 */
import { defineDialect } from '../shared/dialect.ts';
import type { SubscriptionHub } from '../shared/subscription-hub.ts';
import { projection } from './projection.ts';
import { routes } from './routes.ts';

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
