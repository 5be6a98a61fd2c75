/** Faults as JSON-RPC errors. Errors about the caller or the server also have an HTTP status. */
import type { Fault, FaultCode } from '@parlance/protocol';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { HTTP_STATUS } from '../kit/http-status.ts';
import { errorMessage, errorOf, RPC_CODES, type RpcError, RpcFault } from '../kit/json-rpc.ts';

/** The codes of the protocol; their names are sent as well. */
const NAMED = {
  TASK_NOT_FOUND: -32_001,
  TASK_NOT_CANCELABLE: -32_002,
  PUSH_NOTIFICATION_NOT_SUPPORTED: -32_003,
  UNSUPPORTED_OPERATION: -32_004,
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: -32_007,
  VERSION_NOT_SUPPORTED: -32_009,
} as const;

export const CODES = { ...RPC_CODES, ...NAMED } as const;

const NAMES: ReadonlyMap<number, string> = new Map(Object.entries(NAMED).map(([name, code]) => [code, name]));

/** Others are internal errors. */
const FAULTS: Partial<Record<FaultCode, number>> = {
  invalid: CODES.params,
  empty: CODES.params,
  tool_invalid: CODES.params,
  not_found: CODES.TASK_NOT_FOUND,
  no_turn: CODES.TASK_NOT_CANCELABLE,
  no_approval: CODES.UNSUPPORTED_OPERATION,
  busy: CODES.UNSUPPORTED_OPERATION,
  nothing_to_compact: CODES.UNSUPPORTED_OPERATION,
  cancelled: CODES.UNSUPPORTED_OPERATION,
  too_large: CODES.refused,
  too_slow: CODES.refused,
  unauthenticated: CODES.refused,
  forbidden: CODES.refused,
  limited: CODES.refused,
  overloaded: CODES.refused,
  shutting_down: CODES.refused,
  storage_unavailable: CODES.refused,
};

/** Protocol errors are sent with HTTP status 200. */
export function statusOf(fault: Fault): ContentfulStatusCode {
  const isRefused = !(fault instanceof RpcFault) && FAULTS[fault.code] === CODES.refused;
  return isRefused ? HTTP_STATUS[fault.code] : 200;
}

export function rpcError(fault: Fault): RpcError {
  const error = errorOf(fault, FAULTS, CODES.internal);
  const reason = NAMES.get(error.code);
  if (reason === undefined) return error;
  const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'a2a-protocol.org' };
  return { ...error, data: [info] };
}

/** The origin is not allowed, the endpoint does not exist, or an error occurred. */
export const refusal = (status: number, message: string): object =>
  errorMessage(null, { code: status >= 500 ? CODES.internal : CODES.refused, message });
