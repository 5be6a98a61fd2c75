import { expect, test } from 'bun:test';
import type { ApiFault } from './faults.ts';
import { google } from './google.ts';

const api = google({ key: 'AIza-secret', model: 'gemini-x' });
const codes = {
  INVALID_ARGUMENT: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  RESOURCE_EXHAUSTED: 429,
  INTERNAL: 500,
  UNAVAILABLE: 503,
};
const body = (status: keyof typeof codes, message: string, details: object[] = []) =>
  JSON.stringify({ error: { code: codes[status], status, message, details } });

const KEY = 'Google refused the key';
const CHECK = 'Check GOOGLE_API_KEY.';
const DOWN = 'Google answered with error';
const ADDRESS = 'There is no model API at this address: check the base URL.';
const TOO_MANY = 'The input token count (1054016) exceeds the maximum number of tokens allowed (1048576).';
const LONG = `The conversation is too long for the model: ${TOO_MANY}`;
const INVALID_KEY = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }];

const REFUSALS: readonly [number, string, ApiFault['code'], boolean, string][] = [
  [
    400,
    body('INVALID_ARGUMENT', 'API key not valid.', INVALID_KEY),
    'provider_rejected',
    false,
    `${KEY}: API key not valid. ${CHECK}`,
  ],
  [
    401,
    body('UNAUTHENTICATED', 'AIza-secret is wrong'),
    'provider_rejected',
    false,
    `${KEY}: [key] is wrong. ${CHECK}`,
  ],
  [403, body('PERMISSION_DENIED', 'no'), 'provider_rejected', false, `${KEY}: no. ${CHECK}`],
  [
    404,
    body('NOT_FOUND', 'models/gemini-x is not found'),
    'provider_rejected',
    false,
    'Google does not know the model gemini-x: models/gemini-x is not found.',
  ],
  [404, '<html>', 'provider_rejected', false, ADDRESS],
  [200, '<html>', 'provider_rejected', false, ADDRESS],
  [400, body('INVALID_ARGUMENT', TOO_MANY), 'context_too_long', false, LONG],
  [400, `[${body('INVALID_ARGUMENT', TOO_MANY)}]\n`, 'context_too_long', false, LONG],
  [
    400,
    body('INVALID_ARGUMENT', 'Contents must not be empty.'),
    'provider_rejected',
    false,
    'Google refused the request: Contents must not be empty.',
  ],
  [
    400,
    body('INVALID_ARGUMENT', 'you sent AIza-secret'),
    'provider_rejected',
    false,
    'Google refused the request: you sent [key].',
  ],
  [500, body('INTERNAL', 'oops'), 'provider_unavailable', true, `${DOWN} 500: oops.`],
  [
    503,
    body('UNAVAILABLE', 'The model is overloaded.'),
    'provider_unavailable',
    true,
    `${DOWN} 503: The model is overloaded.`,
  ],
  [502, '<html>bad gateway</html>', 'provider_unavailable', true, `${DOWN} 502.`],
];

for (const [status, text, code, retryable, message] of REFUSALS) {
  test(`${status} ${text} is ${code}`, () =>
    expect(api.refused(status, text)).toEqual({ code, retryable, message }));
}

test('a rate limit contains the delay', () => {
  const retry = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.0745s' }];
  const fault = api.refused(429, body('RESOURCE_EXHAUSTED', 'You exceeded your current quota.', retry));
  expect(fault).toMatchObject({ code: 'provider_limited', retryable: true, retryAfterMs: 34_075 });
  expect(api.refused(429, '').retryAfterMs).toBeUndefined();
});

test('a refusal of thoughts is retried without them', () => {
  const text = body('INVALID_ARGUMENT', 'Thinking is not enabled for this model');
  expect(api.refused(400, text).retryPlain).toBe(true);
});

const finished = (finishReason: string) => {
  const data = JSON.stringify({ candidates: [{ finishReason }] });
  return api.finish(api.step(api.start(), { event: undefined, data })[0]);
};

test.each([
  ['STOP', 'done'],
  ['MAX_TOKENS', 'length'],
  ['SAFETY', 'refused'],
  ['RECITATION', 'refused'],
  ['BLOCKLIST', 'refused'],
  ['PROHIBITED_CONTENT', 'refused'],
  ['SPII', 'refused'],
] as const)('finishReason %s is %s', (reason, stop) => {
  expect(finished(reason)).toMatchObject([{ type: 'ended', stop }]);
});

test.each(['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'OTHER'])(
  'finishReason %s is retried',
  (reason) => {
    expect(finished(reason)).toMatchObject([{ type: 'failed', fault: { retryable: true } }]);
  },
);

test('calls without a vendor id get unique ids', () => {
  const data = JSON.stringify({
    candidates: [
      {
        finishReason: 'STOP',
        content: { parts: [{ functionCall: { name: 'a' } }, { functionCall: { name: 'a' } }] },
      },
    ],
  });
  const ids = [1, 2].flatMap(() =>
    api
      .finish(api.step(api.start(), { event: undefined, data })[0])
      .flatMap((event) => (event.type === 'call' ? [event.call] : [])),
  );
  expect(new Set(ids).size).toBe(4);
});
