/** Maps errors of OpenAI and compatible servers to faults. */
import { type FaultCode, isObject } from '@parlance/protocol';
import { jsonObject } from './json.ts';
import type { ApiFault } from './model-api.ts';
import type { Vendor } from './openai.ts';
import { refusedKey } from './refused-key.ts';
import { CONTEXT_TOO_LONG, explained, failedWith, refusedRequest, vendorText } from './vendor-text.ts';

type Refusal = {
  /** absent for an error inside a stream */
  readonly status: number | undefined;
  readonly code: string;
  readonly message: string;
};

/** Maps a refused request: its status and its body, which may be anything. */
export function refusedFault(vendor: Vendor, status: number, body: string): ApiFault {
  const failure = described(jsonObject(body) ?? (status === 200 ? null : body));
  // Some servers refuse with a success status and an error in the body.
  if (status === 200 && failure.message)
    return faultOf(vendor, { ...failure, status: statusIn(failure.code) });
  return faultOf(vendor, { ...failure, status });
}

/** An error inside the stream. `error` is any value. */
export function streamFault(vendor: Vendor, error: unknown): ApiFault {
  const failure = described({ error });
  return faultOf(vendor, { ...failure, status: statusIn(failure.code) });
}

const statusIn = (code: string): number | undefined => (/^[45]\d\d$/.test(code) ? Number(code) : undefined);

const KEY_REFUSED = /(?:incorrect|invalid)[ _]api[ _]key/i;
const QUOTA =
  /insufficient_quota|billing|insufficient[ _](?:balance|credit|funds)|exceeded your current quota/i;
const TOO_LONG =
  /context[ _](?:length|window|size)|maximum context|prompt is too long|too many (?:input )?tokens|reduce the length/i;
const LIMITED = /rate_?limit|too_many_requests/i;
const OVERLOADED = /overloaded|server_error|internal_error|timeout|unavailable|insufficient_system_resource/i;
const REQUEST_ERROR = /^invalid|unsupported|image|policy|filter|bad_request/i;
/** Optional fields of ours that an account, a model or a compatible server may not know. */
const EXTRAS =
  /encrypted[_ ]content|reasoning[_.](?:summary|content|effort)|reasoning summar|reasoning'? is unsupported|stream_options|prompt_cache_key/i;

type Row = {
  readonly when: (refusal: Refusal, text: string) => boolean;
  readonly code: FaultCode;
  readonly retryable?: boolean;
  /** `reason` is what the vendor says */
  readonly sentence: (vendor: Vendor, refusal: Refusal, reason: string) => string;
};

/** The first match wins. A status alone is not enough, and a stream has none. */
const FAULTS: readonly Row[] = [
  {
    when: ({ status }, text) => status === 401 || KEY_REFUSED.test(text),
    code: 'provider_rejected',
    sentence: ({ host, ...used }, _, reason) =>
      refusedKey({ name: host, variable: used.variable }, used, reason).message,
  },
  {
    when: ({ status }, text) => status === 402 || QUOTA.test(text),
    code: 'provider_limited',
    sentence: ({ host, keyName }, _, reason) =>
      explained(`The quota of ${host} is used up`, reason, `check ${keyName}`),
  },
  {
    when: ({ status }) => status === 403,
    code: 'provider_rejected',
    sentence: ({ host, ...used }, _, reason) =>
      used.key
        ? explained(`${host} does not allow the request`, reason, `check what ${used.keyName} may use`)
        : refusedKey({ name: host, variable: used.variable }, used, reason).message,
  },
  {
    when: ({ status }, text) => status === 413 || TOO_LONG.test(text),
    code: 'context_too_long',
    sentence: (_vendor, _, reason) => explained(CONTEXT_TOO_LONG, reason),
  },
  {
    when: ({ status, code }) => status === 429 || LIMITED.test(code),
    code: 'provider_limited',
    retryable: true,
    sentence: ({ host }, _, reason) => explained(`The rate limit of ${host} is reached`, reason),
  },
  {
    when: ({ status = 0, code }) =>
      status === 408 || status === 409 || status >= 500 || OVERLOADED.test(code),
    code: 'provider_unavailable',
    retryable: true,
    sentence: ({ host }, { status }, reason) => explained(failedWith(host, status), reason),
  },
  {
    when: ({ status, code, message }) =>
      code === 'model_not_found' || (status === 404 && /model/i.test(message)),
    code: 'provider_rejected',
    sentence: ({ host, model }, _, reason) => explained(`${host} does not know the model ${model}`, reason),
  },
  {
    when: ({ status }) => status === 404 || status === 405 || status === 200,
    code: 'provider_rejected',
    sentence: ({ host }, _, reason) =>
      explained(`There is no model API at this address of ${host}`, reason, 'check the base URL'),
  },
  {
    when: ({ status, code }) => status === undefined && !REQUEST_ERROR.test(code),
    code: 'provider_unavailable',
    retryable: true,
    sentence: ({ host }, _, reason) => explained(failedWith(host), reason),
  },
];

function faultOf(vendor: Vendor, refusal: Refusal): ApiFault {
  const text = `${refusal.code} ${refusal.message}`;
  const reason = vendorText(refusal.message, vendor.key);
  const row = FAULTS.find(({ when }) => when(refusal, text));
  if (!row) {
    const refused = refusedRequest(vendor.host, reason);
    return EXTRAS.test(text) ? { ...refused, retryPlain: true } : refused;
  }
  const { code, retryable = false, sentence } = row;
  return { code, message: sentence(vendor, refusal, reason), retryable };
}

/** A longer plain body is not a message. */
const MAX_LINE = 300;

/** Finds the message in `{error: {code, type, message}}`, `{error: "…"}`, `{detail: "…"}`, `{message: "…"}` and plain text. */
function described(body: unknown): { code: string; message: string } {
  const isLine = typeof body === 'string' && body.length <= MAX_LINE && !/<[a-z!]/i.test(body);
  if (!isObject(body)) return { code: '', message: isLine ? body : '' };
  const error = isObject(body.error) ? body.error : body;
  const text = (value: unknown): string =>
    typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
  return {
    code: text(error.code) || text(error.type),
    message: text(error.message) || text(body.error) || text(body.detail),
  };
}
