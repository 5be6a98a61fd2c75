/** Settings that every external API has. */
import { httpUrl, text } from '../values.ts';

export const vendorKey = (env: readonly string[], vendor: string) => ({
  env,
  flag: null,
  argument: '',
  fallback: undefined,
  schema: text,
  secret: true,
  description: `API key for ${vendor}`,
});

export const vendorAddress = (env: readonly string[], vendor: string, more = '') => ({
  env,
  flag: null,
  argument: '',
  fallback: undefined,
  fallbackText: "the vendor's own",
  schema: httpUrl,
  description: `address of ${vendor}${more === '' ? '' : `; ${more}`}`,
});
