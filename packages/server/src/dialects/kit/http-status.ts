/** Faults as HTTP status codes. */
import type { Fault, FaultCode } from '@parlance/protocol';
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
  limited: 429,
  overloaded: 503,
  shutting_down: 503,
  storage_unavailable: 503,
  internal: 500,
} satisfies Record<FaultCode, ContentfulStatusCode>;

const REFUSALS: ReadonlySet<number> = new Set([400, 401, 402, 403, 404, 413, 422]);

/**
 * The status with which a model API refused the request for good, for dialects that such an API has too. Not for
 * dialects where 401 is about the caller's own login.
 */
export const vendorRefusal = ({ vendorStatus = 0 }: Fault): ContentfulStatusCode | undefined =>
  REFUSALS.has(vendorStatus) ? (vendorStatus as ContentfulStatusCode) : undefined;
