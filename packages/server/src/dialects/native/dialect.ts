/**
 * `native`: the core's own events and commands over HTTP, for the console, the SDK and scripts. Every event and command of
 * the core is available. There are no sockets: events are read in pages or as server-sent events.
 */

import { defineDialect } from '../kit/dialect.ts';
import { HTTP_STATUS } from '../kit/http-status.ts';
import { retryText } from '../kit/retry.ts';
import type { SubscriptionHub } from '../kit/subscription-hub.ts';
import { adminEndpoints, priceEndpoints } from './admin.ts';
import { apiKeyEndpoints } from './api-keys.ts';
import { approvalEndpoints } from './approvals.ts';
import { pairingEndpoints } from './pairings.ts';
import { projection } from './projection.ts';
import { sessionEndpoints } from './sessions.ts';
import { setupEndpoints } from './setup.ts';
import { sharedPages, shareEndpoints } from './shares.ts';
import { streamEndpoints } from './streams.ts';

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
  inbound: (ctx, hub: SubscriptionHub<null>) => ({ rest: { ...ctx, hub, pageOf: sharedPages() } }),
  rest: {
    endpoints: [
      ...sessionEndpoints,
      ...streamEndpoints,
      ...approvalEndpoints,
      ...shareEndpoints,
      ...priceEndpoints,
      ...apiKeyEndpoints,
      ...pairingEndpoints,
      ...adminEndpoints,
      ...setupEndpoints,
    ],
    fault: (fault, c) => c.json({ error: fault.data(), detail: retryText(fault) }, HTTP_STATUS[fault.code]),
  },
  projection,
  describe: async () => (await import('./describe.ts')).description,
});
