/** Timings in milliseconds; shorter in tests. */
export type Timings = {
  /** how long an entry lives without renewal */
  readonly expiryMs: number;
  /** renewal interval of entries */
  readonly renewMs: number;
  /** after lost messages: how long other nodes have to register their entries again */
  readonly rereadMs: number;
};

export const TIMINGS: Timings = { expiryMs: 30_000, renewMs: 10_000, rereadMs: 2_000 };
