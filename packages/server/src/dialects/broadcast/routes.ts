/** The HTTP endpoints of the contract. */
import type { Hono } from 'hono';
import { principalOf } from '../../http/request-identity.ts';
import { type DialectContext, reported, requestIds } from '../shared/dialect.ts';
import { HTTP_STATUS } from '../shared/http-status.ts';

type Context = Pick<DialectContext, 'authenticator' | 'engine' | 'log'>;

export function routes(app: Hono, ctx: Context): void {
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
