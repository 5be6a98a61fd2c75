/** The only error that the SDK throws on purpose. What a caller aborts with its own signal rejects with that signal's reason. */
import type { FaultCode } from '@parlance/protocol';

export type ParlanceErrorCode =
  | FaultCode
  /** no answer came: the server, or the way to it, is not there; what was asked may have been done */
  | 'unreachable'
  /** something answered that is not this API */
  | 'unexpected';

export type ErrorDetails = ErrorOptions & {
  /** of the HTTP answer; absent where none came */
  readonly status?: number;
  /** how long the server asks to wait */
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

/** For endpoints and proxies that say no code. */
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

/** What an answer that is not a success means. Reads its body. */
export async function errorOf(response: Response, now: number): Promise<ParlanceError> {
  const { status } = response;
  const { code, message } = parseErrorBody(await response.text().catch(() => ''));
  return new ParlanceError(
    code ?? BY_STATUS[status] ?? 'unexpected',
    message ?? `The server answered ${status}.`,
    { status, retryAfterMs: retryAfterMs(response.headers.get('retry-after'), now) },
  );
}

/** `{error: {code, message}}` is ours; `{error: "…"}` and `{detail: "…"}` come from doors and other dialects. */
function parseErrorBody(body: string): { code?: ParlanceErrorCode; message?: string } {
  let value: { error?: unknown; detail?: unknown } | null;
  try {
    value = JSON.parse(body);
  } catch {
    return {};
  }
  const error = value?.error as { code?: unknown; message?: unknown } | string | undefined;
  if (typeof error === 'object' && typeof error?.code === 'string')
    return { code: error.code as FaultCode, message: String(error.message) };
  const text = value?.detail ?? error;
  return typeof text === 'string' ? { message: text } : {};
}

/** Seconds or a date, as RFC 9110 has it; undefined where it says nothing that can be followed. */
export function retryAfterMs(header: string | null, now: number): number | undefined {
  if (header === null || header.trim() === '') return undefined;
  const seconds = Number(header);
  const ms = Number.isNaN(seconds) ? Date.parse(header) - now : seconds * 1_000;
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}
