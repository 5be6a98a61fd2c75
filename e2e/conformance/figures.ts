/** What a suite found. */
export type Figures = {
  readonly passed: number;
  readonly total: number;
  /** one line for each that did not pass */
  readonly failures: readonly string[];
};

/** A suite of others that a server is judged by. */
export type Suite = {
  /** the first cell of its row in docs/conformance.md */
  readonly name: string;
  readonly version: string;
  /** Null, without a run, if what it needs is not there. */
  run(): Promise<Figures | null>;
};
