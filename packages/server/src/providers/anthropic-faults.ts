/** Maps errors of Anthropic to faults. https://platform.claude.com/docs/en/api/errors */
import { z } from 'zod';
import { jsonObject } from './json.ts';
import type { ApiFault } from './model-api.ts';
import { refusedKey, type UsedKey } from './refused-key.ts';
import { CONTEXT_TOO_LONG, explained, failedWith, refusedRequest, vendorText } from './vendor-text.ts';

export const AnthropicError = z.object({ error: z.object({ type: z.string(), message: z.string() }) });

const VENDOR = { name: 'Anthropic', variable: 'ANTHROPIC_API_KEY' };
const LONG = /prompt is too long|exceed context limit/i;
const rejected = (message: string): ApiFault => ({ code: 'provider_rejected', message, retryable: false });
const limited = (reason: string): ApiFault => ({
  code: 'provider_limited',
  message: explained('The rate limit of Anthropic is reached', reason),
  retryable: true,
});
const tooLong = (reason: string): ApiFault => ({
  code: 'context_too_long',
  message: explained(CONTEXT_TOO_LONG, reason),
  retryable: false,
});
const down = (reason: string, status?: number): ApiFault => ({
  code: 'provider_unavailable',
  message: explained(failedWith('Anthropic', status), reason),
  retryable: true,
});

export function anthropicStreamFault(
  { type, message }: z.infer<typeof AnthropicError>['error'],
  used: UsedKey,
): ApiFault {
  const reason = vendorText(message, used.key);
  if (LONG.test(message)) return tooLong(reason);
  switch (type) {
    case 'rate_limit_error':
      return limited(reason);
    case 'authentication_error':
    case 'permission_error':
      return refusedKey(VENDOR, used, reason);
    case 'request_too_large':
      return tooLong(reason);
    case 'invalid_request_error':
    case 'billing_error':
    case 'not_found_error':
      return refusedRequest('Anthropic', reason);
    default:
      return down(reason);
  }
}

/** A response that is not a stream. */
export function anthropicRefusal(
  status: number,
  body: string,
  { model, ...used }: UsedKey & { readonly model: string },
): ApiFault {
  const { data } = AnthropicError.safeParse(jsonObject(body));
  const message = data?.error.message ?? '';
  const reason = vendorText(message, used.key);
  if (status === 401 || status === 403) return refusedKey(VENDOR, used, reason);
  if (status < 400 || (status === 404 && !data)) {
    return rejected('There is no model API at this address: check the base URL.');
  }
  if (status === 404) return rejected(explained(`Anthropic does not know the model ${model}`, reason));
  if (status === 413 || LONG.test(message)) return tooLong(reason);
  if (status === 429) return limited(reason);
  if (status === 408 || status >= 500) return down(reason, status);
  return {
    ...refusedRequest('Anthropic', reason),
    ...(/thinking|signature|cache_control|effort/.test(message) ? { retryPlain: true } : {}),
  };
}
