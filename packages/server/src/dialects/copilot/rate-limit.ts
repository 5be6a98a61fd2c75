/** How often one caller may ask; told with every answer. */
import type { MiddlewareHandler } from 'hono';
import type { RateLimiterRes } from 'rate-limiter-flexible';
import RateLimiterMemory from 'rate-limiter-flexible/lib/RateLimiterMemory.js';
import { tokenOf } from '../../http/request-identity.ts';
import type { DialectContext } from '../shared/dialect.ts';
import { errorBody } from './envelope.ts';

const WINDOW_SECONDS = 60;

/** Callers are told apart by their tokens; those without one share a place. */
export function rateLimit({ requestsPerMinute, now, refused }: DialectContext): MiddlewareHandler {
  const limiter = new RateLimiterMemory({ points: requestsPerMinute, duration: WINDOW_SECONDS });

  const headersOf = ({ remainingPoints, msBeforeNext }: RateLimiterRes): Record<string, string> => ({
    'X-RateLimit-Limit': String(requestsPerMinute),
    'X-RateLimit-Remaining': String(Math.max(0, remainingPoints)),
    'X-RateLimit-Reset': String(Math.ceil((now() + msBeforeNext) / 1000)),
  });

  return async (c, next) => {
    const caller = Bun.hash(tokenOf(c.req.raw) ?? '').toString(36);
    const { allowed, count } = await limiter.consume(caller).then(
      (within) => ({ allowed: true, count: within }),
      (beyond: RateLimiterRes) => ({ allowed: false, count: beyond }),
    );
    for (const [name, value] of Object.entries(headersOf(count))) c.header(name, value);
    if (allowed) return next();
    refused('requestsPerMinute');
    const retryAfter = Math.max(1, Math.ceil(count.msBeforeNext / 1000));
    c.header('Retry-After', String(retryAfter));
    const message = `Too many requests. Try again in ${retryAfter} seconds.`;
    return c.json(errorBody('RATE_LIMIT', message, { details: { retryAfter }, retryAfter }), 429);
  };
}
