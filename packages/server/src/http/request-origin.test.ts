import { expect, test } from 'bun:test';
import { requestOrigin } from './request-origin.ts';

const BOUND = { host: '0.0.0.0', allowedOrigins: ['https://agent.example', 'http://plain.example:8080'] };

const originOf = (headers: Record<string, string>, proxies = 0): string =>
  requestOrigin(new Headers(headers), BOUND, proxies);

test('is the Host header, with the port that the client used', () => {
  expect(originOf({ host: '127.0.0.1:3000' })).toBe('http://127.0.0.1:3000');
  expect(originOf({ host: 'LOCALHOST:9000' })).toBe('http://localhost:9000');
  expect(originOf({ host: '[::1]:3000' })).toBe('http://[::1]:3000');
});

test('has the scheme of an origin that the operator allows', () => {
  expect(originOf({ host: 'agent.example' })).toBe('https://agent.example');
  expect(originOf({ host: 'plain.example:8080' })).toBe('http://plain.example:8080');
  expect(originOf({ host: 'agent.example:8443' })).toBe('http://agent.example:8443');
});

test('forwarded headers apply only behind trusted proxies', () => {
  const headers = {
    host: '127.0.0.1:3000',
    'x-forwarded-host': 'agent.example',
    'x-forwarded-proto': 'https',
  };
  expect(originOf(headers)).toBe('http://127.0.0.1:3000');
  expect(originOf(headers, 1)).toBe('https://agent.example');
});

test('uses the forwarded value written by the outermost trusted proxy', () => {
  const headers = { host: '127.0.0.1', 'x-forwarded-proto': 'http, https' };
  expect(originOf(headers, 1)).toBe('https://127.0.0.1');
  expect(originOf(headers, 2)).toBe('http://127.0.0.1');
});

test.each(['evil.example', 'agent.example@evil.example', 'agent.example/path', 'a b', '', 'agent.example"'])(
  'a forwarded host that is not ours is ignored: %p',
  (host) => {
    expect(originOf({ host: '127.0.0.1:3000', 'x-forwarded-host': host }, 1)).toBe('http://127.0.0.1:3000');
  },
);

test('an invalid forwarded scheme is ignored', () => {
  expect(originOf({ host: '127.0.0.1', 'x-forwarded-proto': 'javascript' }, 1)).toBe('http://127.0.0.1');
});
