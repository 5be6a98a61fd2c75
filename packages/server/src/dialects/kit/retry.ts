/** The retry time of a fault: as text, and in the numeric fields of a dialect. */
import type { Fault, FaultCode } from '@parlance/protocol';
import type { Context } from 'hono';
import { vendorRefusal } from './http-status.ts';

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
export function setRetryAfter(c: Context, fault: Fault): void {
  const seconds = retrySeconds(fault);
  if (seconds !== undefined) c.header('Retry-After', String(seconds));
}
