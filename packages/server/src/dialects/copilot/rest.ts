/** What all endpoints have in common: the context, the caller, validation, the rate limit and errors. */
import { Fault, type FaultCode, type JsonObject, type Principal } from '@parlance/protocol';
import type { Context as HonoContext } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { z } from 'zod';
import type { SessionRef } from '../../core/index.ts';
import type { RateLimiter } from '../../http/rate-limiter.ts';
import { principalOf, tokenOf } from '../../http/request-identity.ts';
import type { DialectContext } from '../kit/dialect.ts';
import { endpointOf, type RestApi } from '../kit/endpoint.ts';
import { retryField, retryText } from '../kit/faults.ts';
import type { SubscriptionHub } from '../kit/subscription-hub.ts';
import type { answers, CopilotError, InteractRequest, interactRequest } from './contract.ts';
import type { State } from './outbound.ts';
import type { Task } from './task.ts';

export const Settings = z.object({
  /** the largest page that a client may send, in characters */
  maxDom: z.number(),
  /** rate limit per caller */
  requestsPerMinute: z.number(),
});

type ServerContext = DialectContext<z.output<typeof Settings>>;

/** What tasks use. */
export type CopilotContext = ServerContext & {
  readonly hub: SubscriptionHub<State>;
  /** publishes the messages of the session on its channel from now on */
  readonly follow: (ref: SessionRef) => Promise<void>;
};

/** The result of a call of `/api/agent/interact`. */
export type Interaction = { readonly ref: SessionRef; readonly task: Task };

export type RestContext = CopilotContext & {
  readonly interact: (request: InteractRequest, principal: Principal, key?: string) => Promise<Interaction>;
  /** the schema of a call, with the limit of this server for pages */
  readonly interactBody: ReturnType<typeof interactRequest>;
  readonly limiter: RateLimiter;
};

export const endpoint = endpointOf<RestContext, ReturnType<typeof answers>>();

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

// Faults as HTTP statuses and error bodies of the contract.

type ErrorCode = CopilotError['code'];

/** `error` is the same as `message`: deployed clients read either. `retryAfter` is in seconds. */
export const errorBody = (
  code: ErrorCode,
  message: string,
  more: Pick<CopilotError, 'details' | 'retryAfter'> = {},
): CopilotError => ({ success: false, code, message, error: message, ...more });

/** Only a session can be missing at these endpoints: an unknown task is answered, not refused. */
export const FAULTS = {
  invalid: { status: 400, code: 'VALIDATION_ERROR' },
  empty: { status: 400, code: 'VALIDATION_ERROR' },
  too_large: { status: 413, code: 'INVALID_REQUEST' },
  too_slow: { status: 408, code: 'TIMEOUT' },
  unauthenticated: { status: 401, code: 'UNAUTHORIZED' },
  forbidden: { status: 403, code: 'FORBIDDEN' },
  not_found: { status: 404, code: 'SESSION_NOT_FOUND' },
  no_turn: { status: 409, code: 'TASK_COMPLETED' },
  no_approval: { status: 409, code: 'RESOURCE_CONFLICT' },
  tool_invalid: { status: 400, code: 'INVALID_ACTION_FORMAT' },
  tool_failed: { status: 500, code: 'EXTERNAL_SERVICE_ERROR' },
  busy: { status: 409, code: 'RESOURCE_CONFLICT' },
  nothing_to_compact: { status: 409, code: 'RESOURCE_CONFLICT' },
  cancelled: { status: 409, code: 'RESOURCE_CONFLICT' },
  too_many_steps: { status: 500, code: 'MAX_STEPS_EXCEEDED' },
  provider_unavailable: { status: 502, code: 'LLM_ERROR' },
  provider_limited: { status: 429, code: 'QUOTA_EXCEEDED' },
  provider_rejected: { status: 400, code: 'LLM_ERROR' },
  context_too_long: { status: 413, code: 'LLM_ERROR' },
  answer_too_long: { status: 502, code: 'LLM_ERROR' },
  budget_exhausted: { status: 429, code: 'QUOTA_EXCEEDED' },
  limited: { status: 429, code: 'RATE_LIMIT' },
  overloaded: { status: 503, code: 'INTERNAL_ERROR' },
  shutting_down: { status: 503, code: 'INTERNAL_ERROR' },
  storage_unavailable: { status: 503, code: 'INTERNAL_ERROR' },
  internal: { status: 500, code: 'INTERNAL_ERROR' },
} satisfies Record<FaultCode, { status: ContentfulStatusCode; code: ErrorCode }>;

/** The answer to a failed request. */
function errorAnswer(fault: Fault, c: HonoContext): Response {
  const { status, code } = FAULTS[fault.code];
  const retry = retryField('retryAfter', fault);
  const errors = fault.cause instanceof z.ZodError ? { errors: fieldsOf(fault.cause) } : undefined;
  const details: JsonObject | undefined =
    errors ?? (retry.retryAfter === undefined ? undefined : { ...retry });
  return c.json(errorBody(code, retryText(fault), { details, ...retry }), status);
}

/** The fields that do not match, in the format of the contract. */
const fieldsOf = ({ issues }: z.ZodError) =>
  issues.map(({ path, message, code }) => ({ field: path.join('.') || 'body', message, code }));

/** The body of a refused request to a path of the contract. */
export function refusal(status: number, reason: string): object {
  return errorBody(REFUSALS[status] ?? 'INTERNAL_ERROR', reason);
}

const REFUSALS: Readonly<Record<number, ErrorCode>> = {
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'INVALID_REQUEST',
};
