/**
 * The share of lines that must run without approval: a policy that requires approval for everything must fail
 * as well.
 */
export const MIN_AUTO_APPROVED = 0.2;
