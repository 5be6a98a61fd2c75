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

/** Addresses are shown to users and in logs. */
const addressWithoutPassword = () =>
  httpUrl().refine((value) => {
    const url = URL.parse(value);
    return !url?.username && !url?.password;
  }, 'must not contain a user name or password: set the API key instead');

export const vendorAddress = (env: readonly string[], vendor: string, more = '') => ({
  env,
  flag: null,
  argument: '',
  fallback: undefined,
  fallbackText: "the vendor's own",
  schema: addressWithoutPassword,
  description: `address of ${vendor}${more === '' ? '' : `; ${more}`}`,
});
