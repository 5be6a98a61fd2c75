/** Time, as far as sockets need it; tests bring their own. */
export interface Clock {
  /** in milliseconds */
  now(): number;
  /** Calls `run` once, later; what is returned calls it off. */
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
