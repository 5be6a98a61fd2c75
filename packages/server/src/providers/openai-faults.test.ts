import { describe, expect, test } from 'bun:test';
import type { FaultCode } from '@parlance/protocol';
import { refusedFault, streamFault } from './openai-faults.ts';

const KEY = 'sk-proj-abcdefghijklmnop';
const VENDOR = {
  host: 'api.openai.com',
  key: KEY,
  variable: 'OPENAI_API_KEY',
  keyName: 'OPENAI_API_KEY',
  model: 'gpt-9',
};

const error = (code: string | number | null, message = 'Words.', type = 'invalid_request_error') =>
  JSON.stringify({ error: { message, type, param: null, code } });

const REFUSALS: readonly [
  what: string,
  status: number,
  body: string,
  FaultCode,
  retryable: boolean,
  RegExp,
][] = [
  [
    'a wrong key',
    401,
    error('invalid_api_key', `Incorrect API key: ${KEY}`),
    'provider_rejected',
    false,
    /refused the key: Incorrect API key: \[key\]\. Check OPENAI_API_KEY\.$/,
  ],
  [
    'a wrong key, told by another status',
    400,
    '{"code":"x","error":"Incorrect API key provided: ab***"}',
    'provider_rejected',
    false,
    /: Incorrect API key provided: \[key\]\. Check OPENAI_API_KEY\.$/,
  ],
  ['a key that may not', 403, '', 'provider_rejected', false, /OPENAI_API_KEY may use\.$/],
  [
    'too many requests',
    429,
    error('rate_limit_exceeded'),
    'provider_limited',
    true,
    /rate limit .*: Words\./,
  ],
  [
    'a quota that is used up',
    429,
    error('insufficient_quota'),
    'provider_limited',
    false,
    /used up: Words\. /,
  ],
  [
    'a quota of a key that may not use more',
    403,
    error('insufficient_quota'),
    'provider_limited',
    false,
    /used up: Words\. Check/,
  ],
  ['an empty purse', 402, error(null, 'Insufficient Balance'), 'provider_limited', false, /used up/],
  ['a prompt that is too long', 400, error('context_length_exceeded'), 'context_too_long', false, /too long/],
  [
    'a prompt that is too long for vLLM',
    400,
    '{"object":"error","message":"This model\'s maximum context length is 4096 tokens.","code":400}',
    'context_too_long',
    false,
    /too long/,
  ],
  [
    'a prompt that is too long for llama.cpp',
    400,
    error(400, 'the request exceeds the available context size', 'exceed_context_size_error'),
    'context_too_long',
    false,
    /too long/,
  ],
  ['a request that is too large', 413, '', 'context_too_long', false, /too long/],
  [
    'a server error',
    500,
    'Internal Server Error',
    'provider_unavailable',
    true,
    / answered with error 500: Internal Server Error\.$/,
  ],
  [
    'a gateway that gave up',
    502,
    '<html>Bad gateway</html>',
    'provider_unavailable',
    true,
    / answered with error 502\.$/,
  ],
  [
    'an overloaded server',
    503,
    error(null, 'That model is overloaded.'),
    'provider_unavailable',
    true,
    / error 503: That model is overloaded\.$/,
  ],
  [
    'an unknown model',
    404,
    error('model_not_found', 'The model does not exist'),
    'provider_rejected',
    false,
    /the model gpt-9: The model does not exist\.$/,
  ],
  ['an address without an API', 404, '<html>', 'provider_rejected', false, /check the base URL/],
  ['a page instead of an answer', 200, '<html>', 'provider_rejected', false, /check the base URL/],
  ['a refusal that is called a success', 200, error(429), 'provider_limited', true, /rate limit/],
  [
    'a bad request, in words that may be shown',
    400,
    error(null, 'Unknown parameter: tools.'),
    'provider_rejected',
    false,
    /^api\.openai\.com refused the request: Unknown parameter: tools\.$/,
  ],
];

describe('a refusal', () => {
  for (const [what, status, body, code, retryable, sentence] of REFUSALS) {
    test(`for ${what}`, () => {
      const fault = refusedFault(VENDOR, status, body);
      expect(fault).toMatchObject({ code, retryable });
      expect(fault.message).toMatch(sentence);
      expect(fault.message).toMatch(/^[^\r\n]+\.$/);
      expect(fault.message).not.toContain('sk-');
    });
  }

  test.each([
    'The encrypted content could not be verified.',
    "Unsupported parameter: 'reasoning.summary' is not supported with this model.",
    'Your organization must be verified to generate reasoning summaries.',
    "property 'stream_options' is unsupported",
  ])('of an optional field is retried without it: %s', (message) => {
    expect(refusedFault(VENDOR, 400, error(null, message))).toMatchObject({
      code: 'provider_rejected',
      retryPlain: true,
    });
  });
});

describe('a failure inside a stream', () => {
  const failures: [what: string, error: unknown, FaultCode, retryable: boolean][] = [
    ['by the server', { code: 'server_error', message: 'Oh.' }, 'provider_unavailable', true],
    ['by a limit', { code: 'rate_limit_exceeded', message: 'Oh.' }, 'provider_limited', true],
    ['by the quota', { code: 'insufficient_quota', message: 'Oh.' }, 'provider_limited', false],
    ['by a status', { code: 502, message: 'Oh.' }, 'provider_unavailable', true],
    ['by its length', { code: 'context_length_exceeded', message: 'Oh.' }, 'context_too_long', false],
    ['by the prompt', { code: 'invalid_prompt', message: 'Against our policy.' }, 'provider_rejected', false],
    ['in a word', 'worker lost', 'provider_unavailable', true],
    ['without a word', null, 'provider_unavailable', true],
  ];
  for (const [what, failure, code, retryable] of failures) {
    test(what, () => expect(streamFault(VENDOR, failure)).toMatchObject({ code, retryable }));
  }
});
