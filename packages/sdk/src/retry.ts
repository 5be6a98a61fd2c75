/** Retry policy, and the clock that it waits on. */
import type { ParlanceError } from './error.ts';

export type Backoff = {
  /** upper bound of the first delay */
  readonly baseMs: number;
  /** upper bound of any delay that the server does not ask for */
  readonly maxMs: number;
};

/**
 * Exponential backoff with full jitter, so that clients cut off together do not reconnect together. A `Retry-After`
 * is waited in full, with jitter on top.
 */
export function delayMs(
  { backoff, clock }: { readonly backoff: Backoff; readonly clock: Clock },
  failures: number,
  error: ParlanceError,
): number {
  const { baseMs, maxMs } = backoff;
  if (error.retryAfterMs !== undefined) return error.retryAfterMs + clock.random() * baseMs;
  return clock.random() * Math.min(maxMs, baseMs * 2 ** Math.min(failures, 30));
}

/** The server or a proxy refused the request without processing it. */
const REFUSED = new Set([425, 429, 503]);
/** Unknown whether the request was processed. */
const LOST = new Set([408, 502, 504]);

/** `repeatable`: the request is idempotent. */
export function worthRetrying(error: ParlanceError, repeatable: boolean): boolean {
  // The server has already retried its provider. A budget is used up until it is reset.
  if (error.code.startsWith('provider_') || error.code === 'budget_exhausted') return false;
  if (error.code === 'unreachable') return repeatable;
  const { status = 0 } = error;
  return REFUSED.has(status) || (repeatable && LOST.has(status));
}

/** A stream only reads, so only a definite refusal ends it. */
export const endsStream = ({ status = 0 }: ParlanceError): boolean =>
  status >= 400 && status < 500 && !REFUSED.has(status) && !LOST.has(status);

/** Time and randomness, replaceable in tests. */
export type Clock = {
  /** milliseconds since the epoch */
  now(): number;
  /** Calls `call` once after `ms`. Returns a function that cancels it. */
  after(ms: number, call: () => void): () => void;
  /** 0 ≤ value < 1 */
  random(): number;
};

/** `setTimeout` fires immediately for longer delays. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, call) {
    const timer = setTimeout(call, Math.min(ms, MAX_TIMER_MS));
    return () => clearTimeout(timer);
  },
  random: () => Math.random(),
};

/** `over` resolves after `ms` or on `wake()`; rejects with the signal's reason if it is aborted. */
export function sleep(
  clock: Clock,
  ms: number,
  signal: AbortSignal | undefined,
): { over: Promise<void>; wake: () => void } {
  let wake: () => void = () => undefined;
  const over = new Promise<void>((resolve, reject) => {
    const stop = () => {
      cancel();
      reject(signal?.reason);
    };
    wake = () => {
      cancel();
      signal?.removeEventListener('abort', stop);
      resolve();
    };
    const cancel = clock.after(ms, () => wake());
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
  return { over, wake };
}
