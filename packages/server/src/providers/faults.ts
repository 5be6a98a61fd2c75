/** Failures of model APIs as faults, with messages for every user of the server. */
import type { FaultCode, FaultData } from '@parlance/protocol';
import { type AnswerLimit, answerTooLong } from '../core/ports/provider.ts';
import { explained } from './vendor-text.ts';

/** A failure, and whether a retry may help. */
export type ApiFault = FaultData & {
  readonly retryable: boolean;
  /** delay that the vendor requests */
  readonly retryAfterMs?: number;
  /** the vendor refused an optional field, not the prompt: retried once, immediately, in the plain form */
  readonly retryPlain?: boolean;
};

const faultOf =
  (code: FaultCode, retryable: boolean) =>
  (message: string): ApiFault => ({ code, message, retryable });

export const rejected = faultOf('provider_rejected', false);
export const unavailable = faultOf('provider_unavailable', true);

// Of an attempt, which the vendor did not report.

export const CANCELLED = faultOf('cancelled', false)('The answer was cancelled.');
export const REDIRECTED = rejected(
  "The model's address redirects to another one, which is not followed: check the base URL.",
);
export const COMPRESSED = rejected("The model's answer is compressed in a way that is not understood.");
export const BUG = faultOf('internal', false)("The model's answer could not be read.");
export const ENDLESS = faultOf(
  'answer_too_long',
  false,
)("The model's answer was stopped: it goes on without saying anything.");
export const STREAM_ENDED_EARLY = unavailable("The model's stream ended before the answer was complete.");
/** It may have been truncated, so it is retried. */
export const MALFORMED_EVENT = unavailable("The model's stream contained invalid data.");

export const tooLong = (limit: AnswerLimit, max: number): ApiFault => ({
  ...answerTooLong(limit, max),
  retryable: false,
});

// Of a vendor. `reason` is its own text, as `vendorText` returns it.

export const contextTooLong = (reason: string): ApiFault =>
  faultOf('context_too_long', false)(explained('The conversation is too long for the model', reason));

export const rateLimited = (vendor: string, reason: string): ApiFault =>
  faultOf('provider_limited', true)(explained(`The rate limit of ${vendor} is reached`, reason));

export const unknownModel = (vendor: string, model: string, reason: string): ApiFault =>
  rejected(explained(`${vendor} does not know the model ${model}`, reason));

/** A request that a vendor refused for its own reason. */
export const refusedRequest = (vendor: string, reason: string): ApiFault =>
  rejected(explained(`${vendor} refused the request`, reason));

/** Without a status: an error inside of a stream. */
export const vendorFailed = (vendor: string, reason: string, status?: number): ApiFault =>
  unavailable(
    explained(
      status === undefined
        ? `${vendor} failed while it was answering`
        : `${vendor} answered with error ${status}`,
      reason,
    ),
  );

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

/** A vendor that refused the key, or that needs one. The message says where the operator has set it. */
export function refusedKey(
  { name, variable }: VendorName,
  { key, keyName, isKeyWithheld }: UsedKey,
  reason: string,
): ApiFault {
  if (key) return rejected(explained(`${name} refused the key`, reason, `check ${keyName ?? variable}`));
  return rejected(
    isKeyWithheld
      ? `${name} needs an API key, but the stored one was entered for another address: enter it again in the model settings, or set ${variable} beside the address.`
      : `${name} needs an API key: enter it in the model settings, or set ${variable}.`,
  );
}

type Refusal = {
  readonly status: number;
  readonly reason: string;
  /** whether the body is an error of the API */
  readonly isApiError: boolean;
  readonly isBadKey?: boolean;
  readonly isTooLong: boolean;
  readonly isDown: boolean;
  /** whether it refuses an optional field */
  readonly retryPlain: boolean;
};

/** A response that is not a stream. */
export function refusedFault(
  vendor: VendorName,
  { model, ...used }: UsedKey & { readonly model: string },
  { status, reason, isApiError, isBadKey, isTooLong, isDown, retryPlain }: Refusal,
): ApiFault {
  if (status === 401 || status === 403 || isBadKey) return refusedKey(vendor, used, reason);
  if (status < 400 || (status === 404 && !isApiError))
    return rejected('There is no model API at this address: check the base URL.');
  if (status === 404) return unknownModel(vendor.name, model, reason);
  if (status === 413 || isTooLong) return contextTooLong(reason);
  if (status === 429) return rateLimited(vendor.name, reason);
  if (isDown) return vendorFailed(vendor.name, reason, status);
  return { ...refusedRequest(vendor.name, reason), ...(retryPlain && { retryPlain }) };
}
