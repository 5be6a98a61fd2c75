/** A vendor that refused the key, or that needs one. The message says where the operator has set it. */
import type { ApiFault } from './model-api.ts';

export type UsedKey = {
  /** empty or undefined: there is none */
  readonly key: string | undefined;
  /** what error messages call the key; the variable by default */
  readonly keyName?: string | undefined;
};

type VendorName = { readonly name: string; readonly variable: string };

export const refusedKey = ({ name, variable }: VendorName, { key, keyName }: UsedKey): ApiFault => ({
  code: 'provider_rejected',
  message: key
    ? `${name} refused the key: check ${keyName ?? variable}.`
    : `${name} needs an API key: enter it in the model settings, or set ${variable}.`,
  retryable: false,
});
