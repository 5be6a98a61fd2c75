import { type Clock, SYSTEM_CLOCK } from './clock.ts';

/** Resolves after `ms`, or as soon as the signal is aborted. */
export function sleep(ms: number, signal: AbortSignal, clock: Clock = SYSTEM_CLOCK): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  const wake = () => resolve();
  const timer = clock.setTimeout(wake, ms);
  signal.addEventListener('abort', wake, { once: true });
  return promise.finally(() => {
    clock.clear(timer);
    signal.removeEventListener('abort', wake);
  });
}

/** Resolves when the work is done, at the latest after `ms`. Rejects if the work does before. */
export async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const done = new AbortController();
  await Promise.race([work.finally(() => done.abort()), sleep(ms, done.signal)]);
}
