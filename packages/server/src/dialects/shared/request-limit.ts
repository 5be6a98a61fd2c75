/** Requests beyond what one caller may ask are refused in the words of the app that this is used in. */
import type { MiddlewareHandler } from 'hono';
import type { DialectContext } from './dialect.ts';

export const requestLimit =
  (ctx: Pick<DialectContext, 'asked'>): MiddlewareHandler =>
  async (c, next) => {
    ctx.asked(c.req.raw);
    await next();
  };
