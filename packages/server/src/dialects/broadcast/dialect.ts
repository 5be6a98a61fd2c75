/**
 * `broadcast`: simple chat pages and REPLs. Every socket receives all sessions of its principal. The contract
 * has no frames for streaming, approval, cancel or ping: text is sent whole, and a cancelled turn ends with an
 * `error`. A pending approval is sent as `agent_thinking` and, when it is requested, also as an
 * `agent_message`, because some pages render nothing else; a chat message that is just yes or no answers it.
 * Pages whose next chat would not answer it are told that it waits elsewhere.
 */
import { defineDialect } from '../shared/dialect.ts';
import { noToken } from '../shared/listen.ts';
import type { SubscriptionHub } from '../shared/subscription-hub.ts';
import { open } from './inbound.ts';
import { projection, type State } from './projection.ts';
import { routes } from './routes.ts';

export const broadcast = defineDialect({
  name: 'broadcast',
  listen: [
    { ws: '/broadcast' },
    { ws: '/ws', when: noToken },
    { http: '/api/health' },
    { http: '/api/config' },
  ],
  inbound: (ctx, hub: SubscriptionHub<State>) => ({
    open: (socket) => open(socket, ctx, hub),
    routes: (app) => routes(app, ctx),
  }),
  projection,
  describe: async () => (await import('./describe.ts')).description,
});
