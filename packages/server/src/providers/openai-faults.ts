/** Maps errors of OpenAI and compatible servers to faults. */
import { isObject, parsedObject } from '@parlance/protocol';
import {
  type ApiFault,
  contextTooLong,
  rateLimited,
  refusedKey,
  refusedRequest,
  rejected,
  unknownModel,
  vendorFailed,
} from './faults.ts';
import type { Vendor } from './openai.ts';
import { explained, vendorText } from './vendor-text.ts';

type Refusal = {
  /** absent for an error inside a stream */
  readonly status: number | undefined;
  readonly code: string;
  readonly message: string;
};

/** Maps a refused request: its status and its body, which may be anything. */
export function refusedFault(vendor: Vendor, status: number, body: string): ApiFault {
  const failure = described(parsedObject(body) ?? (status === 200 ? null : body));
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

type Row = readonly [
  when: (refusal: Refusal, text: string) => boolean,
  /** `reason` is what the vendor says */
  fault: (vendor: Vendor, reason: string, refusal: Refusal) => ApiFault,
];

const keyRefused = ({ host, ...used }: Vendor, reason: string): ApiFault =>
  refusedKey({ name: host, variable: used.variable }, used, reason);

/** The first match wins. A status alone is not enough, and a stream has none. */
const FAULTS: readonly Row[] = [
  [({ status }, text) => status === 401 || KEY_REFUSED.test(text), keyRefused],
  [
    ({ status }, text) => status === 402 || QUOTA.test(text),
    ({ host, keyName }, reason) => ({
      code: 'provider_limited',
      message: explained(`The quota of ${host} is used up`, reason, `check ${keyName}`),
      retryable: false,
    }),
  ],
  [
    ({ status }) => status === 403,
    (vendor, reason) =>
      vendor.key
        ? rejected(
            explained(
              `${vendor.host} does not allow the request`,
              reason,
              `check what ${vendor.keyName} may use`,
            ),
          )
        : keyRefused(vendor, reason),
  ],
  [({ status }, text) => status === 413 || TOO_LONG.test(text), (_vendor, reason) => contextTooLong(reason)],
  [
    ({ status, code }) => status === 429 || LIMITED.test(code),
    ({ host }, reason) => rateLimited(host, reason),
  ],
  [
    ({ status = 0, code }) => status === 408 || status === 409 || status >= 500 || OVERLOADED.test(code),
    ({ host }, reason, { status }) => vendorFailed(host, reason, status),
  ],
  [
    ({ status, code, message }) => code === 'model_not_found' || (status === 404 && /model/i.test(message)),
    ({ host, model }, reason) => unknownModel(host, model, reason),
  ],
  [
    ({ status }) => status === 404 || status === 405 || status === 200,
    ({ host }, reason) =>
      rejected(explained(`There is no model API at this address of ${host}`, reason, 'check the base URL')),
  ],
  [
    ({ status, code }) => status === undefined && !REQUEST_ERROR.test(code),
    ({ host }, reason) => vendorFailed(host, reason),
  ],
];

function faultOf(vendor: Vendor, refusal: Refusal): ApiFault {
  const text = `${refusal.code} ${refusal.message}`;
  const reason = vendorText(refusal.message, vendor.key);
  const [, fault] = FAULTS.find(([when]) => when(refusal, text)) ?? [];
  if (fault) return fault(vendor, reason, refusal);
  const refused = refusedRequest(vendor.host, reason);
  return EXTRAS.test(text) ? { ...refused, retryPlain: true } : refused;
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
