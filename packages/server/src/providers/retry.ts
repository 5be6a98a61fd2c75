/** Retry policy for failed answers. */
import type { ApiFault } from './faults.ts';

export type RetryPolicy = {
  /** total number of attempts */
  readonly attempts: number;
  readonly firstDelayMs: number;
  /** a longer requested delay is not awaited */
  readonly maxDelayMs: number;
  /** 0 to 1; injected for deterministic tests */
  readonly random: () => number;
};

export const DEFAULT_RETRY: RetryPolicy = {
  attempts: 4,
  firstDelayMs: 500,
  maxDelayMs: 60_000,
  random: Math.random,
};

/** Null if it is not retried. Exponential backoff with jitter, or the delay that the vendor requests. */
export function retryDelay(policy: RetryPolicy, attempt: number, fault: ApiFault): number | null {
  if (!fault.retryable || attempt >= policy.attempts) return null;
  const asked = fault.retryAfterMs;
  if (asked !== undefined && asked > policy.maxDelayMs) return null;
  const ceiling = Math.min(policy.firstDelayMs * 2 ** (attempt - 1), policy.maxDelayMs);
  const jittered = Math.round(ceiling * (0.5 + policy.random() / 2));
  return Math.max(jittered, asked ?? 0);
}

/** The delay that the vendor requests: milliseconds if given, else seconds or a date. */
export function retryAfter(headers: Headers, now: number): number | undefined {
  const milliseconds = nonNegative(headers.get('retry-after-ms'));
  if (milliseconds !== undefined) return milliseconds;
  const header = headers.get('retry-after');
  const seconds = nonNegative(header);
  if (seconds !== undefined) return seconds * 1000;
  const date = Date.parse(header ?? '');
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** `Date.parse` reads a negative number as a year: it is nonsense here, and means no delay. */
function nonNegative(header: string | null): number | undefined {
  if (!header?.trim()) return undefined;
  const number = Number(header);
  return Number.isFinite(number) ? Math.max(0, number) : undefined;
}
