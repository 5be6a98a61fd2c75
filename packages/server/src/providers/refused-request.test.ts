import { expect, test } from 'bun:test';
import { refusedRequest } from './refused-request.ts';

test.each([
  'max_tokens is too large: 9000',
  'temperature must be between 0 and 2',
  'either input or messages/prompt is needed',
])('the reason is passed on: %s', (reason) => {
  expect(refusedRequest('api.example', reason, 'key').message).toBe(
    `api.example refused the request: ${reason}.`,
  );
});

test.each([
  'cannot open /srv/models/weights.bin',
  "cannot open '/srv/models'",
  'cannot open ~/models/weights.bin',
  'cannot open C:\\models\\weights.bin',
  'file=/srv/models/weights.bin is missing',
  'failed at engine.py:12',
  '<b>no</b>',
  'the key key is wrong',
  'two\nlines',
])('private details are removed: %s', (reason) => {
  expect(refusedRequest('api.example', reason, 'key key').message).toBe('api.example refused the request.');
});
