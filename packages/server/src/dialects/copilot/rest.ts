/** What all endpoints have in common: the caller, validation, the rate limit and errors. */
import { Fault, type Principal } from '@parlance/protocol';
import type { Context as HonoContext } from 'hono';
import { z } from 'zod';
import type { RateLimiter } from '../../http/rate-limiter.ts';
import { principalOf, tokenOf } from '../../http/request-identity.ts';
import { endpointOf, type RestApi } from '../kit/endpoint.ts';
import type { Context } from './context.ts';
import type { schemas } from './describe.ts';
import { errorAnswer, fieldsOf } from './faults.ts';
import type { Interaction } from './interact.ts';
import type { InteractRequest, interactRequest } from './request.ts';

export type RestContext = Context & {
  readonly interact: (request: InteractRequest, principal: Principal, key?: string) => Promise<Interaction>;
  /** the schema of a call, with the limit of this server for pages */
  readonly interactBody: ReturnType<typeof interactRequest>;
  readonly limiter: RateLimiter;
};

export const endpoint = endpointOf<RestContext, typeof schemas>();

/** A token is required even in open mode. Throws `unauthenticated` without one. */
export function shownToken(request: Request): string {
  const token = tokenOf(request);
  if (token === null) throw new Fault('unauthenticated', 'A token is required.');
  return token;
}

export const REST: Omit<RestApi<RestContext>, 'endpoints'> = {
  async identify(request, { authenticator }) {
    shownToken(request);
    return principalOf(authenticator, request);
  },
  invalid(problem) {
    const cause =
      'error' in problem
        ? problem.error
        : new z.ZodError([{ code: 'custom', path: [], message: problem.body, input: undefined }]);
    const [first] = fieldsOf(cause);
    return new Fault('invalid', `${first?.field}: ${first?.message}`, { cause });
  },
  limit: rateLimit,
  fault: errorAnswer,
};

/** Callers are distinguished by token; callers without one share a limit. Every answer has the state of the limit. */
function rateLimit(c: HonoContext, { limiter, now, refused, settings }: RestContext): void {
  const caller = Bun.hash(tokenOf(c.req.raw) ?? '').toString(36);
  const { allowed, remaining, resetMs } = limiter.take(caller);
  c.header('X-RateLimit-Limit', String(settings.requestsPerMinute));
  c.header('X-RateLimit-Remaining', String(remaining));
  c.header('X-RateLimit-Reset', String(Math.ceil((now() + resetMs) / 1000)));
  if (allowed) return;
  refused('requestsPerMinute');
  throw new Fault('limited', 'Too many requests.', { retryAfterMs: Math.max(1, resetMs) });
}
