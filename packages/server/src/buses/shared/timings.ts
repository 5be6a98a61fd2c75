/** Shorter in tests. In milliseconds. */
export type Timings = {
  /** how long an entry lasts without being renewed */
  readonly expiryMs: number;
  /** how often entries are renewed */
  readonly renewMs: number;
  /** after messages were lost: how long other nodes have to register their entries again */
  readonly rereadMs: number;
};

export const TIMINGS: Timings = { expiryMs: 30_000, renewMs: 10_000, rereadMs: 2_000 };
