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
