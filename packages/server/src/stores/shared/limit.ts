/** How many rows a caller wants, as a whole number that is safe to add one to. Less than none is none. */
const MOST = 2 ** 31;

export const rowLimit = (limit: number): number => Math.min(Math.max(Math.trunc(limit), 0), MOST);
