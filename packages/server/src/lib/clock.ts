/**
 * Time, for everything that a simulation runs: the core, the messages between nodes and the dialects take their clock and their
 * timers from here and never from globals (`scripts/check-imports.ts`).
 */
export interface Clock {
  /** milliseconds since 1970; somebody may set this clock */
  now(): number;
  /** milliseconds of a clock that nobody sets */
  elapsed(): number;
  /** As the global function. The timer keeps the process running until `unref` is called. */
  setTimeout(run: () => void, ms: number): ClockTimer;
  setInterval(run: () => void, ms: number): ClockTimer;
  /** Stops a timer of either kind. Does nothing if it is over or absent. */
  clear(timer: ClockTimer | null | undefined): void;
  /** A signal that is aborted after `ms`. */
  timeout(ms: number): AbortSignal;
}

export type ClockTimer = { unref(): unknown };

export const SYSTEM_CLOCK: Clock = {
  now: Date.now,
  elapsed: () => performance.now(),
  setTimeout: (run, ms) => setTimeout(run, ms),
  setInterval: (run, ms) => setInterval(run, ms),
  clear: (timer) => clearTimeout(timer as Timer | undefined),
  timeout: (ms) => AbortSignal.timeout(ms),
};
