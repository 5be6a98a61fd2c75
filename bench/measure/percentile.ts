/** The smallest value that at least `share` of all values do not exceed; NaN if there are none. */
export function percentile(values: Iterable<number>, share: number): number {
  const sorted = Float64Array.from(values).sort();
  if (sorted.length === 0) return Number.NaN;
  const rank = Math.ceil(share * sorted.length);
  return sorted[Math.max(0, Math.min(sorted.length, rank) - 1)] as number;
}

export const median = (values: Iterable<number>): number => percentile(values, 0.5);
