/** Seeds that once found a bug; the short run repeats each of them. */

export type BadSeed = { readonly seed: number; readonly kills: number; readonly found: string };

export const BAD_SEEDS: readonly BadSeed[] = [];
