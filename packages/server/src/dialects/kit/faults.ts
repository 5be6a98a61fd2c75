/** Faults over HTTP: status codes, and the time after which a retry helps. */
import type { Fault, FaultCode } from '@parlance/protocol';
import type { Context as HonoContext } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';

export const HTTP_STATUS = {
  invalid: 400,
  empty: 400,
  too_large: 413,
  too_slow: 408,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  no_turn: 409,
  no_approval: 409,
  tool_invalid: 422,
  tool_failed: 500,
  busy: 409,
  nothing_to_compact: 409,
  cancelled: 409,
  too_many_steps: 500,
  provider_unavailable: 502,
  provider_limited: 429,
  provider_rejected: 400,
  context_too_long: 413,
  answer_too_long: 502,
  budget_exhausted: 429,
  limited: 429,
  overloaded: 503,
  shutting_down: 503,
  storage_unavailable: 503,
  internal: 500,
} satisfies Record<FaultCode, ContentfulStatusCode>;

const REFUSALS: ReadonlySet<number> = new Set([400, 401, 402, 403, 404, 413, 422]);

/**
 * The status with which a model API refused the request for good, for dialects that such an API has too. Not for
 * dialects where 401 is about the caller's own login. 422 becomes 400: LangChain sends the request again after a 422.
 */
export function vendorRefusal({ vendorStatus = 0 }: Fault): ContentfulStatusCode | undefined {
  if (!REFUSALS.has(vendorStatus)) return undefined;
  return vendorStatus === 422 ? 400 : (vendorStatus as ContentfulStatusCode);
}

// The retry time of a fault: as text, and in the numeric fields of a dialect.

/** Retry times of temporary faults that do not have their own. */
const DEFAULT_RETRY_MS: Partial<Record<FaultCode, number>> = {
  limited: 1_000,
  overloaded: 5_000,
  shutting_down: 5_000,
  storage_unavailable: 5_000,
  provider_limited: 10_000,
};

const retryMs = (fault: Fault): number | undefined =>
  fault.retryAfterMs ?? (vendorRefusal(fault) ? undefined : DEFAULT_RETRY_MS[fault.code]);

/** In whole seconds; undefined if a retry does not help. */
function retrySeconds(fault: Fault): number | undefined {
  const milliseconds = retryMs(fault);
  return milliseconds === undefined ? undefined : Math.max(1, Math.ceil(milliseconds / 1_000));
}

/** The message, with the retry time if the fault has one. */
export function retryText(fault: Fault): string {
  const seconds = fault.retryAfterMs === undefined ? undefined : retrySeconds(fault);
  if (seconds === undefined) return fault.message;
  return `${fault.message} Try again in ${seconds} second${seconds === 1 ? '' : 's'}.`;
}

/** `{[field]: seconds}` for dialects with such a field; empty if the fault has no retry time. */
export const retryField = <Field extends string>(
  field: Field,
  fault: Fault,
): { readonly [Key in Field]?: number } =>
  fault.retryAfterMs === undefined ? {} : ({ [field]: retrySeconds(fault) } as { [Key in Field]?: number });

/** Every 429 and 503 has a Retry-After header. */
export function setRetryAfter(c: HonoContext, fault: Fault): void {
  const seconds = retrySeconds(fault);
  if (seconds !== undefined) c.header('Retry-After', String(seconds));
}
