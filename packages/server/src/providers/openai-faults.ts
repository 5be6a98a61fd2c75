/** What an OpenAI API and those compatible with it answer when they do not answer, as faults. */
import { isObject } from '@parlance/protocol';
import { jsonObject } from './json.ts';
import type { Vendor } from './openai.ts';
import type { WireFault } from './wire.ts';

type Refusal = {
  /** absent for a failure inside a stream */
  readonly status: number | undefined;
  readonly code: string;
  readonly message: string;
};

const TOO_LONG =
  /context[ _](?:length|window|size)|maximum context|prompt is too long|too many (?:input )?tokens|reduce the length/i;
const QUOTA =
  /insufficient_quota|billing|insufficient[ _](?:balance|credit|funds)|exceeded your current quota/i;
const OVERLOADED = /overloaded|server_error|internal_error|timeout|unavailable|insufficient_system_resource/i;
const LIMITED = /rate_?limit|too_many_requests/i;
/** Extras of ours that an account or a compatible server may not know. */
const EXTRAS =
  /encrypted_content|encrypted content|reasoning[_.](?:summary|content)|reasoning summar|stream_options|prompt_cache_key|'?reasoning'? is unsupported/i;

/** A refused request: its status and its body, which may be anything. */
export function refusedFault(vendor: Vendor, status: number, body: string): WireFault {
  return faultOf(vendor, { status, ...described(jsonObject(body)) });
}

/** A failure told inside the stream. `error` is whatever the vendor put there. */
export function streamFault(vendor: Vendor, error: unknown): WireFault {
  const told = described({ error });
  const status = Number(told.code);
  return faultOf(vendor, { ...told, status: status >= 400 && status < 600 ? status : undefined });
}

function faultOf(vendor: Vendor, refusal: Refusal): WireFault {
  const { host, keyName, model } = vendor;
  const { status, code, message } = refusal;
  const told = `${code} ${message}`;
  const rejected = (sentence: string): WireFault => ({
    code: 'provider_rejected',
    message: sentence,
    retryable: false,
  });
  if (status === 401) return rejected(`${host} refused the key: check ${keyName}.`);
  if (status === 403) return rejected(`${host} does not allow this: check what ${keyName} may use.`);
  if (status === 402 || QUOTA.test(told))
    return limited(`The quota of ${keyName} at ${host} is used up.`, false);
  if (status === 413 || TOO_LONG.test(told)) {
    return {
      code: 'context_too_long',
      message: 'The conversation is longer than the model takes.',
      retryable: false,
    };
  }
  if (status === 429 || LIMITED.test(code)) return limited(`${host} limits how often it may be asked.`, true);
  if (status === 408 || status === 409 || (status !== undefined && status >= 500) || OVERLOADED.test(code)) {
    return {
      code: 'provider_unavailable',
      message: `${host} is unavailable${status ? ` (${status})` : ''}.`,
      retryable: true,
    };
  }
  if (/model_not_found/.test(code) || (status === 404 && /model/i.test(message)))
    return rejected(`${host} does not know the model ${model}.`);
  if (status === 404 || status === 405 || status === 200)
    return rejected(`There is no model API at this address of ${host}: check the base URL.`);
  const sentence = `${host} refused the request${shown(message)}`;
  // Without a status or a reason that we know, it failed while it was answering.
  if (status === undefined && !/^invalid|unsupported|image|policy|filter|bad_request/i.test(code))
    return {
      code: 'provider_unavailable',
      message: `${host} failed while it was answering.`,
      retryable: true,
    };
  return EXTRAS.test(told) ? { ...rejected(sentence), plainly: true } : rejected(sentence);
}

const limited = (message: string, retryable: boolean): WireFault => ({
  code: 'provider_limited',
  message,
  retryable,
});

/** `{error: {code, type, message}}`, `{error: "…"}`, `{detail: "…"}`, `{message: "…"}`: all of these are found. */
function described(body: unknown): { code: string; message: string } {
  if (!isObject(body)) return { code: '', message: '' };
  const error = isObject(body.error) ? body.error : body;
  const text = (value: unknown): string =>
    typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
  return {
    code: text(error.code) || text(error.type),
    message: text(error.message) || text(body.error) || text(body.detail),
  };
}

/** The vendor's own words where they are one short, clean line: no key, no address, no stack. */
function shown(message: string): string {
  const line = message.trim().replace(/\.$/, '');
  const clean =
    line !== '' &&
    line.length <= 200 &&
    !/[\r\n<>{}]|https?:|\bsk-|bearer|api[ _-]?key|traceback|\bat .+:\d+/i.test(line) &&
    !/[\w-]{32,}/.test(line);
  return clean ? `: ${line}.` : '.';
}
