/** A judge that requires approval for everything must fail as well. */
export const LEAST_UNASKED = 0.2;
