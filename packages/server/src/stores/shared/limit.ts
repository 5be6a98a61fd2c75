/** The requested row count as a safe integer that can be incremented; negative counts become 0. */
const MAX_ROWS = 2 ** 31;

export const rowLimit = (limit: number): number => Math.min(Math.max(Math.trunc(limit), 0), MAX_ROWS);
