import { describe, expect, test } from 'bun:test';
import { tokenOf } from './request-identity.ts';
import { isFromOwnPage, partsOfSignIn, SIGN_IN_HEADER, signInCookie, signInOf } from './sign-in-cookie.ts';

const requestWith = (headers: Record<string, string>, method = 'POST') =>
  new Request('http://127.0.0.1:3000/v1/sessions', {
    method,
    headers: { host: '127.0.0.1:3000', ...headers },
  });

const KEPT = { cookie: 'a=b; parlance-id1=secret1; parlance-id2=secret2', [SIGN_IN_HEADER]: 'id2.key2' };

describe('a request is from a page of this server', () => {
  test.each([
    [true, 'POST', { 'sec-fetch-site': 'same-origin', origin: 'http://127.0.0.1:3000' }],
    // A proxy may have another Host.
    [true, 'POST', { 'sec-fetch-site': 'same-origin', origin: 'https://parlance.example' }],
    [true, 'POST', { origin: 'http://127.0.0.1:3000' }],
    [true, 'GET', {}],
    [false, 'POST', {}],
    [false, 'DELETE', {}],
    // Another port is the same site.
    [false, 'POST', { 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:3000' }],
    [false, 'GET', { 'sec-fetch-site': 'same-site' }],
    [false, 'GET', { 'sec-fetch-site': 'cross-site' }],
    [false, 'GET', { 'sec-fetch-site': 'none' }],
    [false, 'POST', { origin: 'http://127.0.0.1:3001' }],
    [false, 'GET', { origin: 'http://localhost:3000' }],
    [false, 'POST', { origin: 'null' }],
  ] as const)('%p: %s with %j', (expected, method, headers) => {
    expect(isFromOwnPage(requestWith(headers, method))).toBe(expected);
  });
});

describe('a sign-in', () => {
  const own = { 'sec-fetch-site': 'same-origin' };

  test('is the cookie of the id in the header, with its key', () => {
    const text = signInOf(requestWith({ ...KEPT, ...own }));
    expect(text).toBe('pls_id2_secret2_key2');
    expect(partsOfSignIn(String(text))).toEqual({ id: 'id2', secret: 'secret2', key: 'key2' });
    expect(tokenOf(requestWith({ ...KEPT, ...own }))).toBe(text);
  });

  test('of TLS comes first: a cookie without the prefix can be set by others', () => {
    const cookie = 'parlance-id2=forged; __Host-parlance-id2=secret2';
    expect(signInOf(requestWith({ ...KEPT, ...own, cookie }))).toBe('pls_id2_secret2_key2');
  });

  test('does not replace a token', () => {
    expect(tokenOf(requestWith({ ...KEPT, ...own, authorization: 'Bearer a.b.c' }))).toBe('a.b.c');
  });

  test.each([
    ['without a cookie', { [SIGN_IN_HEADER]: 'id2.key2', ...own }],
    ['without the header', { cookie: KEPT.cookie, ...own }],
    ['of another id', { ...KEPT, [SIGN_IN_HEADER]: 'id3.key2', ...own }],
    ['with a header in another format', { ...KEPT, [SIGN_IN_HEADER]: 'id2', ...own }],
    ['with an id that is no name', { cookie: 'parlance-=x', [SIGN_IN_HEADER]: '.key', ...own }],
    ['of a WebSocket', { ...KEPT, ...own, upgrade: 'websocket' }],
    ['from another page', { ...KEPT, 'sec-fetch-site': 'cross-site' }],
    ['from another port', { ...KEPT, 'sec-fetch-site': 'same-site' }],
    ['from another origin', { ...KEPT, origin: 'http://127.0.0.1:8080' }],
    ['of a request that changes something, without a sign of a browser', KEPT],
  ])('does not count %s', (_, headers) => {
    expect(signInOf(requestWith(headers))).toBeNull();
    expect(tokenOf(requestWith(headers))).toBeNull();
  });
});

test('the cookie is for the server alone, and with TLS for the host alone', () => {
  const kept = { secret: 'abc', expiresAt: Date.UTC(2030, 0, 1) };
  const at = (origin: string, given: typeof kept | null) =>
    signInCookie(requestWith({ origin }), 'id1', given).split('; ');
  expect(at('http://127.0.0.1:3000', kept)).toEqual([
    'parlance-id1=abc',
    ...['Path=/', 'Expires=Tue, 01 Jan 2030 00:00:00 GMT', 'HttpOnly', 'SameSite=Strict'],
  ]);
  expect(at('https://parlance.example', kept)).toEqual(
    expect.arrayContaining(['__Host-parlance-id1=abc', 'Path=/', 'Secure', 'HttpOnly', 'SameSite=Strict']),
  );
  expect(at('http://127.0.0.1:3000', null)).toEqual(expect.arrayContaining(['parlance-id1=', 'Max-Age=0']));
});
