/** Every statement is planned once, for tables that may be large: indexes are used from the first row on. */
export const PLANNER = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
};
