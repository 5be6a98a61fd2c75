/**
 * Limits failed logins, in windows that start with the first failure and end by themselves, so that no user is locked
 * out permanently:
 *
 * - per name and address, against guessing one password;
 * - per address over all names, against trying one password on many users;
 * - per name over all addresses without an earlier login of that name, against distributed guessing.
 *
 * So one address cannot lock a user out at another, and many addresses cannot lock a user out at a known one.
 * `testing/stores/contract/login-attempts.ts` tests every promise made here.
 */
export interface LoginAttempts {
  /**
   * Counts as failed until `succeeded` is called; a refused attempt does not count. `name` is null if it is
   * not a valid user name.
   */
  begin(name: string | null, address: string): Promise<Attempt>;
  succeeded(name: string, address: string): Promise<void>;
}

export type Attempt = { readonly ok: true } | { readonly ok: false; readonly retryAfterMs: number };

export type LoginLimits = {
  /** failures per name and address in a window */
  readonly attempts: number;
  readonly windowSeconds?: number;
  /** maximum number of names and addresses that an in-memory counter keeps */
  readonly maxKeys?: number;
};

/** Limits per address and per name, as a multiple of the limit per name and address. */
export const OVERALL_FACTOR = 10;
export const LOGIN_WINDOW_SECONDS = 15 * 60;
