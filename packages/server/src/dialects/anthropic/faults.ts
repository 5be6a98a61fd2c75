/** Faults as errors of the Messages API: `{type: "error", error: {type, message, details?}, request_id}`. */
import type { Fault, FaultCode } from '@parlance/protocol';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { requestIdOf } from '../../http/request-id.ts';
import { HTTP_STATUS, vendorRefusal } from '../kit/http-status.ts';
import { RequestFault } from '../kit/request-fault.ts';
import { retryText } from '../kit/retry.ts';

const REQUEST_ID = 'request-id';

export type ErrorBody = {
  readonly type: 'error';
  readonly error: {
    readonly type: string;
    readonly message: string;
    readonly details?: { readonly error_code: string };
  };
  readonly request_id: string;
};

/** The vendor's status for an overloaded server, which the types of hono do not include. */
const OVERLOADED = 529 as ContentfulStatusCode;

const STATUSES: Record<FaultCode, ContentfulStatusCode> = {
  ...HTTP_STATUS,
  context_too_long: 400,
  tool_invalid: 400,
  overloaded: OVERLOADED,
};

export const statusOf = (fault: Fault): ContentfulStatusCode => vendorRefusal(fault) ?? STATUSES[fault.code];

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

const typeOf = (status: number): string =>
  TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');

export function errorBody(fault: Fault, request: string): ErrorBody {
  const code = fault instanceof RequestFault ? fault.apiCode : null;
  return {
    type: 'error',
    error: {
      type: typeOf(statusOf(fault)),
      message: messageOf(fault),
      ...(code?.startsWith('thread_') && { details: { error_code: code } }),
    },
    request_id: request,
  };
}

/** Clients search for this text to shorten the conversation. */
const messageOf = (fault: Fault): string =>
  fault.code === 'context_too_long' && !/prompt is too long/i.test(fault.message)
    ? `prompt is too long: ${fault.message}`
    : retryText(fault);

/** The origin is not allowed, the endpoint does not exist, or an error occurred. */
export const refusal = (status: number, message: string, request: Request): ErrorBody => ({
  type: 'error',
  error: { type: typeOf(status), message },
  request_id: requestIdOf(request),
});

export const headers = (request: Request) => ({ [REQUEST_ID]: requestIdOf(request) });
