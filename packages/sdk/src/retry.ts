/** When to try again. */
import type { Clock } from './clock.ts';
import type { ParlanceError } from './error.ts';

export type Backoff = {
  /** the first wait is at most this long */
  readonly baseMs: number;
  /** no wait is longer, unless the server asks for it */
  readonly mostMs: number;
};

/**
 * Exponential backoff with full jitter: anything between nothing and twice as much as the time before, so that
 * clients that were cut off together do not come back together. What the server asks for is waited in full, and the
 * jitter comes on top.
 */
export function delayMs(
  { backoff, clock }: { readonly backoff: Backoff; readonly clock: Clock },
  failures: number,
  error: ParlanceError,
): number {
  const { baseMs, mostMs } = backoff;
  if (error.retryAfterMs !== undefined) return error.retryAfterMs + clock.random() * baseMs;
  return clock.random() * Math.min(mostMs, baseMs * 2 ** Math.min(failures, 30));
}

/** The server, or something before it, said that it took nothing on. */
const REFUSED = new Set([425, 429, 503]);
/** Nothing that came back tells whether it was done. */
const LOST = new Set([408, 502, 504]);

/** May it be sent again? `repeatable`: doing it twice is the same as once. */
export function worthRetrying(error: ParlanceError, repeatable: boolean): boolean {
  // A vendor that the server could not reach: it has tried for long enough itself.
  if (error.code.startsWith('provider_')) return false;
  if (error.code === 'unreachable') return repeatable;
  const { status = 0 } = error;
  return REFUSED.has(status) || (repeatable && LOST.has(status));
}

/** For a stream, which only reads: everything may pass but a plain no. */
export const endsStream = ({ status = 0 }: ParlanceError): boolean =>
  status >= 400 && status < 500 && !REFUSED.has(status) && !LOST.has(status);
