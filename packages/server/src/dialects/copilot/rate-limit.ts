/** Rate limit per caller, reported in the headers of every response. */
import type { MiddlewareHandler } from 'hono';
import { fixedWindowLimiter } from '../../http/rate-limiter.ts';
import { tokenOf } from '../../http/request-identity.ts';
import type { Context } from './context.ts';
import { errorBody } from './faults.ts';

const WINDOW_MS = 60_000;

type RateLimitContext = Pick<Context, 'now' | 'refused' | 'settings'>;

/** Callers are distinguished by token; callers without one share a limit. */
export function rateLimit({ settings, now, refused }: RateLimitContext): MiddlewareHandler {
  const { requestsPerMinute } = settings;
  const limiter = fixedWindowLimiter({ limit: requestsPerMinute, windowMs: WINDOW_MS });

  return async (c, next) => {
    const caller = Bun.hash(tokenOf(c.req.raw) ?? '').toString(36);
    const { allowed, remaining, resetMs } = limiter.take(caller);
    c.header('X-RateLimit-Limit', String(requestsPerMinute));
    c.header('X-RateLimit-Remaining', String(remaining));
    c.header('X-RateLimit-Reset', String(Math.ceil((now() + resetMs) / 1000)));
    if (allowed) return next();
    refused('requestsPerMinute');
    const retryAfter = Math.max(1, Math.ceil(resetMs / 1000));
    c.header('Retry-After', String(retryAfter));
    const message = `Too many requests. Try again in ${retryAfter} seconds.`;
    return c.json(errorBody('RATE_LIMIT', message, { details: { retryAfter }, retryAfter }), 429);
  };
}
