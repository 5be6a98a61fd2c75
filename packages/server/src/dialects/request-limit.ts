/** Requests beyond what one caller may ask are refused in the words of the app that this is used in. */
import type { MiddlewareHandler } from 'hono';
import type { Surroundings } from './dialect.ts';

export const requestLimit =
  (around: Surroundings): MiddlewareHandler =>
  async (c, next) => {
    around.asked(c.req.raw);
    await next();
  };
