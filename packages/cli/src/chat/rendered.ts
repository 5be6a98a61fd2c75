/** One rendered row of a conversation. */

/** Final lines, which never change once printed. */
export type FinalPart = {
  /** unique in its row */
  readonly key: string;
  readonly lines: readonly string[];
  /** belongs to the lines above: no blank line in between */
  readonly joined?: boolean;
};

export type Rendered = {
  readonly parts: readonly FinalPart[];
  /** lines after the parts that may still change */
  readonly live: readonly string[];
  /** no further part follows */
  readonly complete: boolean;
};

export const final = (lines: readonly string[]): Rendered => ({
  parts: [{ key: 'all', lines }],
  live: [],
  complete: true,
});

export const unfinished = (live: readonly string[]): Rendered => ({ parts: [], live, complete: false });
