/** Maps errors of Anthropic to faults. */
import { z } from 'zod';
import { jsonObject } from './json.ts';
import type { ApiFault } from './model-api.ts';
import { refusedKey, type UsedKey } from './refused-key.ts';
import { refusedRequest } from './refused-request.ts';

export const AnthropicError = z.object({ error: z.object({ type: z.string(), message: z.string() }) });

const unavailable = (message: string): ApiFault => ({
  code: 'provider_unavailable',
  message,
  retryable: true,
});

const DOWN = unavailable('Anthropic cannot answer at the moment.');
const LIMITED: ApiFault = {
  code: 'provider_limited',
  message: 'Anthropic limits how much may be asked at the moment.',
  retryable: true,
};
const VENDOR = { name: 'Anthropic', variable: 'ANTHROPIC_API_KEY' };
const TOO_LONG: ApiFault = {
  code: 'context_too_long',
  message: 'The conversation is longer than the model takes.',
  retryable: false,
};
const LONG = /prompt is too long|exceed context limit/i;
const rejected = (message: string): ApiFault => ({ code: 'provider_rejected', message, retryable: false });

/** https://platform.claude.com/docs/en/api/errors */
export function anthropicStreamFault(
  { type, message }: z.infer<typeof AnthropicError>['error'],
  used: UsedKey,
): ApiFault {
  if (LONG.test(message)) return TOO_LONG;
  switch (type) {
    case 'rate_limit_error':
      return LIMITED;
    case 'authentication_error':
    case 'permission_error':
      return refusedKey(VENDOR, used);
    case 'request_too_large':
      return TOO_LONG;
    case 'invalid_request_error':
    case 'billing_error':
    case 'not_found_error':
      return rejected('Anthropic refused the request.');
    default:
      return DOWN;
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
  if (status === 401 || status === 403) return refusedKey(VENDOR, used);
  if (status < 400 || (status === 404 && !data)) {
    return rejected('There is no model API at this address: check the base URL.');
  }
  if (status === 404) return rejected(`Anthropic does not know the model ${model}.`);
  if (status === 413 || LONG.test(message)) return TOO_LONG;
  if (status === 429) return LIMITED;
  if (status === 408 || status >= 500) return DOWN;
  return {
    ...refusedRequest('Anthropic', message, used.key),
    ...(/thinking|signature|cache_control|effort/.test(message) ? { retryPlain: true } : {}),
  };
}
