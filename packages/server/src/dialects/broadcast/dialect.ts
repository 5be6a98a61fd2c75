/**
 * `broadcast`: simple chat pages and REPLs. Every socket receives all sessions of its principal. The contract
 * has no frames for streaming, approval, cancel or ping: text is sent whole, and a cancelled turn ends with an
 * `error`. A pending approval is sent as `agent_thinking` and, when it is requested, also as an
 * `agent_message`, because some pages render nothing else; a chat message that is just yes or no answers it.
 * Pages whose next chat would not answer it are told that it waits elsewhere.
 */

import type { Hono } from 'hono';
import { principalOf } from '../../http/request-identity.ts';
import { type DialectContext, defineDialect, reported, requestIds } from '../kit/dialect.ts';
import { HTTP_STATUS } from '../kit/http-status.ts';
import { noToken } from '../kit/listen.ts';
import type { SubscriptionHub } from '../kit/subscription-hub.ts';
import { description } from './contract.ts';
import { open } from './inbound.ts';
import { projection, type State } from './outbound.ts';

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
  describe: async () => description(),
});

// The HTTP endpoints of the contract.

type Context = Pick<DialectContext, 'authenticator' | 'engine' | 'log'>;

function routes(app: Hono, ctx: Context): void {
  const { engine, authenticator } = ctx;
  app.get('/api/health', (c) => c.json({ status: 'ok' }));
  app.get('/api/config', async (c) => {
    try {
      await principalOf(authenticator, c.req.raw);
    } catch (thrown) {
      const { code, message } = reported(thrown, ctx, requestIds(c.req.raw));
      return c.json({ error: message, detail: message }, HTTP_STATUS[code]);
    }
    return c.json({ max_iterations: engine.maxSteps, working_dir: engine.root });
  });
}
