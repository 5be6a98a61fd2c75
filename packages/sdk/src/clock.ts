/** Time and chance, so that tests can have them their way. */
export type Clock = {
  /** milliseconds since 1970 */
  now(): number;
  /** Calls once after the time; what it returns takes that back. */
  after(ms: number, call: () => void): () => void;
  /** at least 0, less than 1 */
  random(): number;
};

/** Longer times make a timer fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, call) {
    const timer = setTimeout(call, Math.min(ms, LONGEST_TIMER_MS));
    return () => clearTimeout(timer);
  },
  random: () => Math.random(),
};

/** Resolves after the time; rejects with the signal's reason as soon as it is aborted. `wake` ends it early. */
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
