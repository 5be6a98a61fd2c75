/**
 * CORS headers, which let pages of other origins read responses. Whether to accept their requests is decided
 * earlier.
 */
import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';

const EXPOSED = ['mcp-session-id', 'request-id', 'x-next-cursor', 'x-parlance-session', 'x-request-id'];

/**
 * Sets the headers when the response is created: hono's middleware creates two more responses per request.
 */
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
