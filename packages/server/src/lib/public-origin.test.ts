import { expect, test } from 'bun:test';
import { coversHost, isPublicOrigin } from './public-origin.ts';

test.each(['https://api.example.com', 'wss://live.example.com:8443', 'https://*.example.com'])(
  '%s is a public origin',
  (origin) => expect(isPublicOrigin(origin)).toBe(true),
);

test.each([
  'http://example.com',
  'https://localhost',
  'https://app.localhost',
  'https://printer.local',
  'https://127.0.0.1',
  'https://10.0.0.1:8080',
  'https://[::1]',
  'https://0x7f.1',
  'https://*',
  'https://*.com',
  'https:',
  'data:',
  "'self'",
  'https://example.com/path',
  'https://example.com; script-src *',
  'https://example.com https://b.example',
  "https://example.com\n'self'",
  'https://user@example.com',
  'https://EXAMPLE.com',
  `https://${'a.'.repeat(200)}com`,
  '',
])('%s is none', (origin) => expect(isPublicOrigin(origin)).toBe(false));

test('an origin covers its host, and with * those below it', () => {
  expect(coversHost('https://example.com', 'example.com:3000')).toBe(true);
  expect(coversHost('wss://*.example.com:1', 'parlance.example.com')).toBe(true);
  expect(coversHost('https://*.example.com', 'example.org')).toBe(false);
  expect(coversHost('https://a.example.com', 'b.example.com')).toBe(false);
});
