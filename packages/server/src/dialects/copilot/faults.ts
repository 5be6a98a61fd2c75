/** Faults as HTTP statuses and error bodies of the contract. */
import type { Fault, FaultCode, JsonObject } from '@parlance/protocol';
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { z } from 'zod';
import { retryField, retryText } from '../kit/retry.ts';

export type ErrorCode =
  | 'UNAUTHORIZED'
  | 'INVALID_CREDENTIALS'
  | 'FORBIDDEN'
  | 'VALIDATION_ERROR'
  | 'INVALID_ACTION_FORMAT'
  | 'INVALID_REQUEST'
  | 'RATE_LIMIT'
  | 'QUOTA_EXCEEDED'
  | 'NOT_FOUND'
  | 'SESSION_NOT_FOUND'
  | 'TASK_NOT_FOUND'
  | 'TASK_COMPLETED'
  | 'RESOURCE_CONFLICT'
  | 'INTERNAL_ERROR'
  | 'LLM_ERROR'
  | 'DATABASE_ERROR'
  | 'EXTERNAL_SERVICE_ERROR'
  | 'PARSE_ERROR'
  | 'MAX_STEPS_EXCEEDED'
  | 'TIMEOUT';

export type ErrorBody = {
  readonly success: false;
  readonly code: ErrorCode;
  readonly message: string;
  /** the same as `message`; deployed clients read either */
  readonly error: string;
  readonly details?: JsonObject;
  /** in seconds */
  readonly retryAfter?: number;
};

export const errorBody = (
  code: ErrorCode,
  message: string,
  more: Pick<ErrorBody, 'details' | 'retryAfter'> = {},
): ErrorBody => ({ success: false, code, message, error: message, ...more });

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
  limited: { status: 429, code: 'RATE_LIMIT' },
  overloaded: { status: 503, code: 'INTERNAL_ERROR' },
  shutting_down: { status: 503, code: 'INTERNAL_ERROR' },
  storage_unavailable: { status: 503, code: 'INTERNAL_ERROR' },
  internal: { status: 500, code: 'INTERNAL_ERROR' },
} satisfies Record<FaultCode, { status: ContentfulStatusCode; code: ErrorCode }>;

/** The answer to a failed request. */
export function errorAnswer(fault: Fault, c: Context): Response {
  const { status, code } = FAULTS[fault.code];
  const retry = retryField('retryAfter', fault);
  const errors = fault.cause instanceof z.ZodError ? { errors: fieldsOf(fault.cause) } : undefined;
  const details: JsonObject | undefined =
    errors ?? (retry.retryAfter === undefined ? undefined : { ...retry });
  return c.json(errorBody(code, retryText(fault), { details, ...retry }), status);
}

/** The fields that do not match, in the format of the contract. */
export const fieldsOf = ({ issues }: z.ZodError) =>
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
