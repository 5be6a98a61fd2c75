/** The clock of sockets, replaced in tests. */
export interface Clock {
  /** in milliseconds */
  now(): number;
  /** Calls `run` once after the delay. Returns a function that cancels it. */
  after(milliseconds: number, run: () => void): () => void;
}

export const SYSTEM_CLOCK: Clock = {
  now: Date.now,
  after(milliseconds, run) {
    const timer = setTimeout(run, milliseconds);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
