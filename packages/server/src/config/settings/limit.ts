/** Settings that are limits. */
import { wholeNumber } from '../values.ts';
import type { Setting } from './setting.ts';

/** A setting with the effect of reaching it. */
export type LimitSetting = Setting & { readonly reached: string };

type Limit = {
  readonly env: string;
  readonly flag: string;
  readonly argument: string;
  readonly fallback: number;
  readonly range: readonly [min: number, max: number];
  readonly description: string;
  readonly reached: string;
};

export const limit = ({ env, range: [min, max], ...rest }: Limit) => ({
  ...rest,
  env: [env],
  schema: () => wholeNumber(min, max),
});
