/** Faults as errors of the OpenAI API: `{error: {message, type, param, code}}`. */
import type { Fault, FaultCode } from '@parlance/protocol';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { RequestFault } from '../kit/chat-request.ts';
import { HTTP_STATUS, retryText, vendorRefusal } from '../kit/faults.ts';

export type ErrorBody = {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string | null;
  };
};

const STATUSES: Record<FaultCode, ContentfulStatusCode> = { ...HTTP_STATUS, context_too_long: 400 };

export const statusOf = (fault: Fault): ContentfulStatusCode => vendorRefusal(fault) ?? STATUSES[fault.code];

const CODES: Partial<Record<FaultCode, string>> = {
  unauthenticated: 'invalid_api_key',
  context_too_long: 'context_length_exceeded',
  limited: 'rate_limit_exceeded',
  provider_limited: 'rate_limit_exceeded',
  budget_exhausted: 'insufficient_quota',
};

export const errorBody = (fault: Fault): ErrorBody => {
  const { param, apiCode } =
    fault instanceof RequestFault
      ? fault
      : { param: fault.code === 'empty' ? 'messages' : null, apiCode: null };
  return body(statusOf(fault), {
    message: retryText(fault),
    param,
    code: apiCode ?? codeOf(fault),
  });
};

function codeOf(fault: Fault): string | null {
  const isQuota = fault.code === 'provider_limited' && vendorRefusal(fault) !== undefined;
  return isQuota ? 'insufficient_quota' : (CODES[fault.code] ?? null);
}

/** The origin is not allowed, the endpoint does not exist, or an error occurred. */
export const refusal = (status: number, message: string): ErrorBody =>
  body(status, { message, param: null, code: null });

const body = (status: number, error: Omit<ErrorBody['error'], 'type'>): ErrorBody => ({
  error: { message: error.message, type: typeOf(status), param: error.param, code: error.code },
});

function typeOf(status: number): string {
  if (status === 429) return 'rate_limit_error';
  return status < 500 ? 'invalid_request_error' : 'server_error';
}
