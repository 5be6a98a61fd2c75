import { expect, test } from 'bun:test';
import { explained, vendorText } from './vendor-text.ts';

const KEY = 'a-secret-key-of-mine';

test.each([
  ['max_tokens is too large: 9000', 'max_tokens is too large: 9000.'],
  ['Unknown parameter: tools.', 'Unknown parameter: tools.'],
  ['either input or messages/prompt is needed', 'either input or messages/prompt is needed.'],
  ['Is that JSON? {"a": 1}', 'Is that JSON? {"a": 1}.'],
  ['Use /v1/responses/x instead', 'Use /v1/responses/x instead.'],
  [
    'Limit 3, Used 3. Visit https://platform.openai.com/account/rate-limits to learn more.',
    'Limit 3, Used 3. Visit https://platform.openai.com/account/rate-limits to learn more.',
  ],
  ['two\n  lines', 'two lines.'],
  ['Your limit resets at 10:30 UTC', 'Your limit resets at 10:30 UTC.'],
])('is kept: %s', (given, shown) => expect(vendorText(given, KEY)).toBe(shown));

test.each([
  ['cannot open /srv/models/weights.bin', 'cannot open [path].'],
  ["cannot open '/srv/models/x'", "cannot open '[path]'."],
  ['cannot open ~/models/weights.bin', 'cannot open [path].'],
  ['cannot open C:\\models\\weights.bin', 'cannot open [path].'],
  ['file=/srv/models/weights.bin is missing', 'file=[path] is missing.'],
  ['failed at engine.py:12', 'failed.'],
  ['Error at run (server.js:10:2)', 'Error.'],
  ['Error\n  at run (server.js:10)\n  at main', 'Error.'],
  ['No.\nTraceback (most recent call last):\n  File "x.py"', 'No.'],
  ['<b>no</b>', ''],
  ['<!DOCTYPE html><p>Bad gateway', ''],
  [`the key ${KEY} is wrong`, 'the key [key] is wrong.'],
  ['Incorrect API key provided: sk-pro*****aB3. Try.', 'Incorrect API key provided: [key]. Try.'],
  ['Incorrect API key provided: ab***', 'Incorrect API key provided: [key].'],
  ['Authorization: Bearer abc.def', 'Authorization: [key].'],
  [`id ${'x'.repeat(40)}`, 'id [key].'],
  ['See https://user:pw@host.example/trace?x=1.', 'See [address].'],
  ['See https://trace.internal/1', 'See [address].'],
  ['See https://docs.example.com/a?token=1.', 'See https://docs.example.com/a.'],
  ['dial tcp 10.0.0.3:8080: connection refused', 'dial tcp [address]: connection refused.'],
  ['  \n ', ''],
])('has no private details: %s', (given, shown) => expect(vendorText(given, KEY)).toBe(shown));

test('a long one is cut between words', () => {
  const shown = vendorText('word '.repeat(100_000), undefined);
  expect(shown).toMatch(/^(?:word ){90,}word…$/);
  expect(vendorText('x.'.repeat(100_000), undefined).length).toBeLessThanOrEqual(501);
});

test('a short key, which may be a word, stays', () => {
  expect(vendorText('The key is missing.', 'key')).toBe('The key is missing.');
});

test('statement, text and advice are sentences', () => {
  expect(explained('It refused the key', 'Not yours.', 'check KEY')).toBe(
    'It refused the key: Not yours. Check KEY.',
  );
  expect(explained('It refused the key', '', 'check KEY')).toBe('It refused the key: check KEY.');
  expect(explained('It is gone', '')).toBe('It is gone.');
  expect(explained('It is gone', 'Away.')).toBe('It is gone: Away.');
});
