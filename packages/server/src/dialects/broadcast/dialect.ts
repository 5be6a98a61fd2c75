/**
 * `broadcast`: simple chat pages and REPLs. Every socket of a principal hears all of that principal's sessions. The
 * contract has no frames for streaming, approval, cancel or ping: text goes out whole, and a cancelled turn ends in an
 * `error`. A waiting approval goes out as `agent_thinking` and, when it is raised, also as an `agent_message`, because
 * some pages render nothing else; a chat that is just yes or no answers it.
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
