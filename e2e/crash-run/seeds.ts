/** Seeds that once found something, and what; the short run plays each of them again. */

export type BadSeed = { readonly seed: number; readonly kills: number; readonly found: string };

export const BAD_SEEDS: readonly BadSeed[] = [];
