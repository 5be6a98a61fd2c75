/** The only error that the SDK throws. A call aborted by its own signal rejects with the signal's reason instead. */

import type { FaultCode } from '@parlance/protocol';
import { parsedObject } from '@parlance/protocol/json-text';

export type ParlanceErrorCode =
  | FaultCode
  /** no response: server or network down; the request may have been executed */
  | 'unreachable'
  /** the response is not from this API */
  | 'unexpected';

export type ErrorDetails = ErrorOptions & {
  /** HTTP status; absent if there was no response */
  readonly status?: number;
  /** delay requested by the server */
  readonly retryAfterMs?: number;
};

export class ParlanceError extends Error {
  override readonly name = 'ParlanceError';
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(
    readonly code: ParlanceErrorCode,
    message: string,
    { status, retryAfterMs, ...options }: ErrorDetails = {},
  ) {
    super(message, options);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Fallback for endpoints and proxies that send no code. */
const BY_STATUS: Readonly<Record<number, ParlanceErrorCode>> = {
  400: 'invalid',
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not_found',
  408: 'too_slow',
  413: 'too_large',
  422: 'invalid',
  429: 'overloaded',
  503: 'overloaded',
};

/** Error of an unsuccessful response. Reads the body. */
export async function errorOf(response: Response, now: number): Promise<ParlanceError> {
  const { status } = response;
  const { code, message } = parseErrorBody(await response.text().catch(() => ''));
  return new ParlanceError(
    code ?? BY_STATUS[status] ?? 'unexpected',
    message ?? `The server answered ${status}.`,
    { status, retryAfterMs: retryAfterMs(response.headers.get('retry-after'), now) },
  );
}

/** `{error: {code, message}}` is the native shape; `{error: "…"}` and `{detail: "…"}` come from other dialects. */
function parseErrorBody(body: string): { code?: ParlanceErrorCode; message?: string } {
  const value = parsedObject(body);
  const error = value?.error as { code?: unknown; message?: unknown } | string | undefined;
  if (typeof error === 'object' && typeof error?.code === 'string')
    return { code: error.code as FaultCode, message: String(error.message) };
  const text = value?.detail ?? error;
  return typeof text === 'string' ? { message: text } : {};
}

/** Seconds or an HTTP date (RFC 9110); undefined if it is neither. */
export function retryAfterMs(header: string | null, now: number): number | undefined {
  if (header === null || header.trim() === '') return undefined;
  const seconds = Number(header);
  const ms = Number.isNaN(seconds) ? Date.parse(header) - now : seconds * 1_000;
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}
