/** What all endpoints of `copilot` have in common: who calls, what fits, and how an error looks. */
import { Fault, type FaultCode, type JsonObject, type Principal } from '@parlance/protocol';
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { z } from 'zod';
import type { Authenticator } from '../../http/authenticator.ts';
import { principalOf as principalOrLocal, tokenOf } from '../../http/request-identity.ts';
import { type DialectContext, reported, requestIds } from '../shared/dialect.ts';
import { parseBody } from '../shared/json-body.ts';
import { retryField, retryWords, sayRetryAfter } from '../shared/retry.ts';

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
  /** the same words: deployed clients read either */
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

// In

/** A token is needed in open mode, too: throws `unauthenticated` without one. */
export function shownToken(request: Request): string {
  const token = tokenOf(request);
  if (token === null) throw new Fault('unauthenticated', 'A token is required.');
  return token;
}

/** Who calls. Throws `unauthenticated` without a token, or for a bad one. */
export async function principalOf(authenticator: Authenticator, request: Request): Promise<Principal> {
  shownToken(request);
  return principalOrLocal(authenticator, request);
}

/** Throws `invalid`, with the fields that do not fit. */
export function checked<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (!result.success) throw invalid(result.error);
  return result.data;
}

/** The JSON body of the request. Throws `invalid` where there is none, or it does not fit. */
export async function checkedBody<Schema extends z.ZodType>(
  schema: Schema,
  bytes: Promise<Uint8Array>,
): Promise<z.output<Schema>> {
  const parsed = parseBody(await bytes);
  if ('problem' in parsed) throw unreadable(parsed.problem);
  return checked(schema, parsed.value);
}

const unreadable = (message: string): Fault =>
  invalid(new z.ZodError([{ code: 'custom', path: [], message, input: undefined }]));

function invalid(cause: z.ZodError): Fault {
  const [first] = fieldsOf(cause);
  return new Fault('invalid', `${first?.field}: ${first?.message}`, { cause });
}

const fieldsOf = ({ issues }: z.ZodError) =>
  issues.map(({ path, message, code }) => ({ field: path.join('.') || 'body', message, code }));

// Out

/** For `onError` of an app with endpoints of this contract. */
export const errorAnswer =
  (ctx: DialectContext) =>
  (thrown: unknown, c: Context): Response => {
    const fault = reported(thrown, ctx, requestIds(c.req.raw));
    const { status, code } = FAULTS[fault.code];
    if (fault.code === 'unauthenticated') c.header('WWW-Authenticate', 'Bearer');
    sayRetryAfter(c, fault);
    const retry = retryField('retryAfter', fault);
    const errors = fault.cause instanceof z.ZodError ? { errors: fieldsOf(fault.cause) } : undefined;
    const details: JsonObject | undefined =
      errors ?? (retry.retryAfter === undefined ? undefined : { ...retry });
    return c.json(errorBody(code, retryWords(fault), { details, ...retry }), status);
  };

// Faults

/** What is not found at these endpoints is a session: an unknown task is answered, never refused. */
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
  provider_limited: { status: 503, code: 'QUOTA_EXCEEDED' },
  provider_rejected: { status: 502, code: 'LLM_ERROR' },
  context_too_long: { status: 413, code: 'LLM_ERROR' },
  answer_too_long: { status: 502, code: 'LLM_ERROR' },
  limited: { status: 429, code: 'RATE_LIMIT' },
  overloaded: { status: 503, code: 'INTERNAL_ERROR' },
  shutting_down: { status: 503, code: 'INTERNAL_ERROR' },
  storage_unavailable: { status: 503, code: 'INTERNAL_ERROR' },
  internal: { status: 500, code: 'INTERNAL_ERROR' },
} satisfies Record<FaultCode, { status: ContentfulStatusCode; code: ErrorCode }>;
