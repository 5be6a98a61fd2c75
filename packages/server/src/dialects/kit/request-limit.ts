/** Refuses requests beyond the rate limit of a caller, in the error format of the app that uses it. */
import type { MiddlewareHandler } from 'hono';
import type { DialectContext } from './dialect.ts';

export const requestLimit =
  (ctx: Pick<DialectContext, 'countRequest'>): MiddlewareHandler =>
  async (c, next) => {
    ctx.countRequest(c.req.raw);
    await next();
  };
