/** Maps errors of Google to faults. */
import { z } from 'zod';
import { jsonObject } from './json.ts';
import type { ApiFault } from './model-api.ts';
import { refusedKey, type UsedKey } from './refused-key.ts';
import { CONTEXT_TOO_LONG, explained, failedWith, refusedRequest, vendorText } from './vendor-text.ts';

export const GoogleError = z.object({
  code: z.number().optional(),
  status: z.string().default(''),
  message: z.string().default(''),
  details: z
    .array(z.object({ reason: z.string().optional(), retryDelay: z.string().optional() }))
    .default([]),
});
export type GoogleError = z.infer<typeof GoogleError>;

const unavailable = (message: string): ApiFault => ({
  code: 'provider_unavailable',
  message,
  retryable: true,
});
const VENDOR = { name: 'Google', variable: 'GOOGLE_API_KEY' };
const rejected = (message: string): ApiFault => ({ code: 'provider_rejected', message, retryable: false });

/** A mistake of the model that a retry may avoid. */
export const MISTAKEN = unavailable('The model made a mistake in its answer.');
const TOO_LONG = /token count.*exceeds|exceeds the maximum number of tokens|payload size exceeds/i;

/** `{error: {…}}`, or a list with one such object. */
export function googleErrorIn(body: string): GoogleError {
  const error = jsonObject(body.replace(/^\s*\[|\]\s*$/g, ''))?.error;
  return GoogleError.safeParse(error).data ?? { status: '', message: '', details: [] };
}

export function googleFault(
  status: number,
  error: GoogleError,
  { model, ...used }: UsedKey & { readonly model: string },
): ApiFault {
  const { message, details } = error;
  const reason = vendorText(message, used.key);
  const badKey = details.some(({ reason }) => reason?.startsWith('API_KEY')) || /API key/i.test(message);
  if (status === 401 || status === 403 || (status === 400 && badKey)) {
    return refusedKey(VENDOR, used, reason);
  }
  if (status < 400 || (status === 404 && message === '')) {
    return rejected('There is no model API at this address: check the base URL.');
  }
  if (status === 404) return rejected(explained(`Google does not know the model ${model}`, reason));
  if (status === 413 || TOO_LONG.test(message)) {
    return { code: 'context_too_long', message: explained(CONTEXT_TOO_LONG, reason), retryable: false };
  }
  if (status === 429) {
    const sentence = explained('The rate limit of Google is reached', reason);
    return { code: 'provider_limited', message: sentence, retryable: true, ...retryInfo(details) };
  }
  if (status === 408 || status >= 499) return unavailable(explained(failedWith('Google', status), reason));
  return {
    ...refusedRequest('Google', reason),
    ...(/thinking|thought/i.test(message) ? { retryPlain: true } : {}),
  };
}

/** `"34.5s"`. https://github.com/googleapis/googleapis/blob/master/google/rpc/error_details.proto */
function retryInfo(details: GoogleError['details']): { retryAfterMs?: number } {
  const delay = details.find(({ retryDelay }) => retryDelay !== undefined)?.retryDelay;
  const seconds = Number.parseFloat(delay ?? '');
  return Number.isFinite(seconds) && seconds >= 0 ? { retryAfterMs: Math.round(seconds * 1000) } : {};
}
