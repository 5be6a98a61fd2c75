/** A vendor that refused the key, or that needs one. The message says where the operator has set it. */
import type { ApiFault } from './model-api.ts';
import { explained } from './vendor-text.ts';

export type UsedKey = {
  /** empty or undefined: there is none */
  readonly key: string | undefined;
  /** what error messages call the key; the variable by default */
  readonly keyName?: string | undefined;
  /** the stored key was entered for another address, so there is none */
  readonly isKeyWithheld?: boolean | undefined;
  /** another vendor with the same API */
  readonly vendor?: VendorName | undefined;
};

export type VendorName = { readonly name: string; readonly variable: string };

/** `text` is the vendor's own, as `vendorText` returns it. */
export const refusedKey = (vendor: VendorName, used: UsedKey, text: string): ApiFault => ({
  code: 'provider_rejected',
  message: reasonOf(vendor, used, text),
  retryable: false,
});

function reasonOf(
  { name, variable }: VendorName,
  { key, keyName, isKeyWithheld }: UsedKey,
  text: string,
): string {
  if (key) return explained(`${name} refused the key`, text, `check ${keyName ?? variable}`);
  return isKeyWithheld
    ? `${name} needs an API key, but the stored one was entered for another address: enter it again in the model settings, or set ${variable} beside the address.`
    : `${name} needs an API key: enter it in the model settings, or set ${variable}.`;
}
