/** Faults as JSON-RPC errors, and as HTTP statuses if a request is refused as a whole. */
import { Fault, type FaultCode } from '@parlance/protocol';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { HTTP_STATUS } from '../kit/http-status.ts';
import { retryText } from '../kit/retry.ts';
import { type ErrorBody, errorMessage } from './json-rpc.ts';

export const CODES = {
  parse: -32_700,
  request: -32_600,
  method: -32_601,
  params: -32_602,
  internal: -32_603,
  refused: -32_000,
  resource: -32_002,
  header: -32_020,
  version: -32_022,
} as const;

/** A fault with a code of the protocol. */
export class ProtocolFault extends Fault {
  constructor(
    readonly kind: keyof typeof CODES,
    message: string,
    readonly details?: object,
  ) {
    super('invalid', message);
  }
}

export const invalidParams = (message: string): ProtocolFault => new ProtocolFault('params', message);

const KINDS: Partial<Record<FaultCode, keyof typeof CODES>> = {
  invalid: 'params',
  empty: 'params',
  not_found: 'params',
  internal: 'internal',
  storage_unavailable: 'internal',
};

export function errorOf(fault: Fault): ErrorBody {
  if (fault instanceof ProtocolFault) {
    const { kind, message, details } = fault;
    return { code: CODES[kind], message, ...(details && { data: details }) };
  }
  return { code: CODES[KINDS[fault.code] ?? 'refused'], message: retryText(fault) };
}

/** The status of a request that is refused as a whole. */
export const statusOf = ({ code }: Fault): ContentfulStatusCode => HTTP_STATUS[code];

/** The host or origin is not allowed, the endpoint does not exist, or an error occurred. */
export const refusal = (status: number, message: string) =>
  errorMessage(null, { code: status < 500 ? CODES.refused : CODES.internal, message });
