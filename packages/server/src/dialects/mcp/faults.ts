/** Faults as JSON-RPC errors, and as HTTP statuses if a request is refused as a whole. */
import type { Fault, FaultCode } from '@parlance/protocol';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { HTTP_STATUS } from '../kit/http-status.ts';
import { errorMessage, RPC_CODES, type RpcError, errorOf as rpcErrorOf } from '../kit/json-rpc.ts';

export const CODES = { ...RPC_CODES, resource: -32_002, header: -32_020, version: -32_022 } as const;

const FAULTS: Partial<Record<FaultCode, number>> = {
  invalid: CODES.params,
  empty: CODES.params,
  not_found: CODES.params,
  internal: CODES.internal,
  storage_unavailable: CODES.internal,
};

export const errorOf = (fault: Fault): RpcError => rpcErrorOf(fault, FAULTS, CODES.refused);

/** The status of a request that is refused as a whole. */
export const statusOf = ({ code }: Fault): ContentfulStatusCode => HTTP_STATUS[code];

/** The host or origin is not allowed, the endpoint does not exist, or an error occurred. */
export const refusal = (status: number, message: string) =>
  errorMessage(null, { code: status < 500 ? CODES.refused : CODES.internal, message });
