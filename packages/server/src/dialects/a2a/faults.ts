/** Faults as JSON-RPC errors. Errors about the caller or the server also have an HTTP status. */
import { Fault, type FaultCode } from '@parlance/protocol';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { HTTP_STATUS } from '../kit/http-status.ts';
import { retryText } from '../kit/retry.ts';

export const ERROR_CODES = {
  PARSE_ERROR: -32700,
  INVALID_REQUEST: -32600,
  METHOD_NOT_FOUND: -32601,
  INVALID_PARAMS: -32602,
  INTERNAL_ERROR: -32603,
  REFUSED: -32000,
  TASK_NOT_FOUND: -32001,
  TASK_NOT_CANCELABLE: -32002,
  PUSH_NOTIFICATION_NOT_SUPPORTED: -32003,
  UNSUPPORTED_OPERATION: -32004,
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: -32007,
  VERSION_NOT_SUPPORTED: -32009,
} as const;
export type ErrorReason = keyof typeof ERROR_CODES;

/** A fault with an error code of the protocol. */
export class RpcFault extends Fault {
  constructor(
    readonly reason: ErrorReason,
    message: string,
  ) {
    super('invalid', message);
  }
}

export type RpcError = {
  readonly code: number;
  readonly message: string;
  readonly data?: readonly object[];
};

const REASONS: Record<FaultCode, ErrorReason> = {
  invalid: 'INVALID_PARAMS',
  empty: 'INVALID_PARAMS',
  too_large: 'REFUSED',
  too_slow: 'REFUSED',
  unauthenticated: 'REFUSED',
  forbidden: 'REFUSED',
  not_found: 'TASK_NOT_FOUND',
  no_turn: 'TASK_NOT_CANCELABLE',
  no_approval: 'UNSUPPORTED_OPERATION',
  tool_invalid: 'INVALID_PARAMS',
  tool_failed: 'INTERNAL_ERROR',
  busy: 'UNSUPPORTED_OPERATION',
  nothing_to_compact: 'UNSUPPORTED_OPERATION',
  cancelled: 'UNSUPPORTED_OPERATION',
  too_many_steps: 'INTERNAL_ERROR',
  provider_unavailable: 'INTERNAL_ERROR',
  provider_limited: 'INTERNAL_ERROR',
  provider_rejected: 'INTERNAL_ERROR',
  context_too_long: 'INTERNAL_ERROR',
  answer_too_long: 'INTERNAL_ERROR',
  limited: 'REFUSED',
  overloaded: 'REFUSED',
  shutting_down: 'REFUSED',
  storage_unavailable: 'REFUSED',
  internal: 'INTERNAL_ERROR',
};

/** Protocol errors are sent with HTTP status 200. */
export function statusOf(fault: Fault): ContentfulStatusCode {
  const isRefused = !(fault instanceof RpcFault) && REASONS[fault.code] === 'REFUSED';
  return isRefused ? HTTP_STATUS[fault.code] : 200;
}

export function rpcError(fault: Fault): RpcError {
  const reason = fault instanceof RpcFault ? fault.reason : REASONS[fault.code];
  return errorObject(reason, retryText(fault));
}

const isOwnCode = (code: number): boolean => code <= -32001 && code >= -32099;

function errorObject(reason: ErrorReason, message: string): RpcError {
  const code = ERROR_CODES[reason];
  if (!isOwnCode(code)) return { code, message };
  const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'a2a-protocol.org' };
  return { code, message, data: [info] };
}

/** The origin is not allowed, the endpoint does not exist, or an error occurred. */
export const refusal = (status: number, message: string): object => ({
  jsonrpc: '2.0',
  id: null,
  error: errorObject(status >= 500 ? 'INTERNAL_ERROR' : 'REFUSED', message),
});
