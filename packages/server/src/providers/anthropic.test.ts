import { describe, expect, test } from 'bun:test';
import { anthropic } from './anthropic.ts';
import type { ApiFault } from './faults.ts';

const api = anthropic({ key: 'sk-secret', model: 'claude-x' });
const body = (type: string, message: string) => JSON.stringify({ type: 'error', error: { type, message } });

const KEY = 'Anthropic refused the key';
const CHECK = 'Check ANTHROPIC_API_KEY.';
const LONG = 'The conversation is too long for the model';
const DOWN = 'Anthropic answered with error';
const LIMITED = 'The rate limit of Anthropic is reached: slow down.';
const ADDRESS = 'There is no model API at this address: check the base URL.';

const REFUSALS: readonly [number, string, ApiFault['code'], boolean, string][] = [
  [
    401,
    body('authentication_error', 'invalid x-api-key sk-secret'),
    'provider_rejected',
    false,
    `${KEY}: invalid x-api-key [key]. ${CHECK}`,
  ],
  [403, body('permission_error', 'not for you'), 'provider_rejected', false, `${KEY}: not for you. ${CHECK}`],
  [
    404,
    body('not_found_error', 'model: claude-x'),
    'provider_rejected',
    false,
    'Anthropic does not know the model claude-x: model: claude-x.',
  ],
  [404, '<html>', 'provider_rejected', false, ADDRESS],
  [200, '<html>', 'provider_rejected', false, ADDRESS],
  [
    400,
    body('invalid_request_error', 'prompt is too long: 208310 tokens > 200000 maximum'),
    'context_too_long',
    false,
    `${LONG}: prompt is too long: 208310 tokens > 200000 maximum.`,
  ],
  [
    400,
    body('invalid_request_error', 'input length and `max_tokens` exceed context limit: 1 + 2 > 2'),
    'context_too_long',
    false,
    `${LONG}: input length and \`max_tokens\` exceed context limit: 1 + 2 > 2.`,
  ],
  [413, body('request_too_large', 'Too much'), 'context_too_long', false, `${LONG}: Too much.`],
  [413, '', 'context_too_long', false, `${LONG}.`],
  [
    400,
    body('invalid_request_error', 'max_tokens: must be at least 1.'),
    'provider_rejected',
    false,
    'Anthropic refused the request: max_tokens: must be at least 1.',
  ],
  [
    400,
    body('invalid_request_error', 'you sent sk-secret'),
    'provider_rejected',
    false,
    'Anthropic refused the request: you sent [key].',
  ],
  [
    400,
    body('invalid_request_error', 'two\nlines'),
    'provider_rejected',
    false,
    'Anthropic refused the request: two lines.',
  ],
  [400, 'x'.repeat(1_000), 'provider_rejected', false, 'Anthropic refused the request.'],
  [429, body('rate_limit_error', 'slow down'), 'provider_limited', true, LIMITED],
  [500, body('api_error', 'oops'), 'provider_unavailable', true, `${DOWN} 500: oops.`],
  [529, body('overloaded_error', 'Overloaded'), 'provider_unavailable', true, `${DOWN} 529: Overloaded.`],
  [502, '<html>bad gateway</html>', 'provider_unavailable', true, `${DOWN} 502.`],
];

for (const [status, text, code, retryable, message] of REFUSALS) {
  test(`${status} ${text} is ${code}`, () =>
    expect(api.refused(status, text)).toEqual({ code, retryable, message }));
}

test('a refusal of thinking is retried without it', () => {
  const text = body('invalid_request_error', 'adaptive thinking is not supported on this model');
  expect(api.refused(400, text).retryPlain).toBe(true);
});

describe('an error in the stream', () => {
  const ERRORS: readonly [string, string, ApiFault['code'], boolean][] = [
    ['overloaded_error', 'Overloaded', 'provider_unavailable', true],
    ['api_error', 'oops', 'provider_unavailable', true],
    ['an_error_of_tomorrow', 'oops', 'provider_unavailable', true],
    ['rate_limit_error', 'slow down', 'provider_limited', true],
    ['authentication_error', 'sk-secret', 'provider_rejected', false],
    ['invalid_request_error', 'no', 'provider_rejected', false],
    ['invalid_request_error', 'prompt is too long', 'context_too_long', false],
    ['request_too_large', 'big', 'context_too_long', false],
  ];
  for (const [type, message, code, retryable] of ERRORS) {
    test(`${type}: ${message} is ${code}`, () => {
      const [, said] = api.step(api.start(), { event: 'error', data: body(type, message) });
      expect(said).toMatchObject([{ type: 'failed', fault: { code, retryable } }]);
      expect(JSON.stringify(said)).not.toContain('sk-secret');
    });
  }
});

test.each([
  ['end_turn', 'done'],
  ['stop_sequence', 'done'],
  ['pause_turn', 'done'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['refusal', 'refused'],
] as const)('stop_reason %s is %s', (stop_reason, stop) => {
  const data = JSON.stringify({ type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 1 } });
  const [state] = api.step(api.start(), { event: 'message_delta', data });
  expect(api.finish(state)).toMatchObject([{ type: 'ended', stop }]);
});
