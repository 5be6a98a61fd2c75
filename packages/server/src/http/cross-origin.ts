/** What lets pages of other origins read answers. Whether their requests come in at all is decided before. */
import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';

const EXPOSED = ['mcp-session-id', 'request-id', 'x-next-cursor', 'x-parlance-session', 'x-request-id'];

/** Answers are given their headers when they are made: hono's own makes two answers more for each request. */
export function crossOrigin(): MiddlewareHandler {
  const preflight = cors({ origin: (origin) => origin, credentials: false, exposeHeaders: EXPOSED });
  const exposed = EXPOSED.join(',');
  return async (c, next) => {
    if (c.req.method === 'OPTIONS') return preflight(c, next);
    await next();
    const { headers } = c.res;
    const origin = c.req.header('origin');
    if (origin) headers.set('access-control-allow-origin', origin);
    headers.set('access-control-expose-headers', exposed);
    headers.append('vary', 'Origin');
  };
}
