import { expect, test } from 'bun:test';
import { LOCAL } from '@parlance/protocol';
import type { Authenticator } from './authenticator.ts';
import { forDialect } from './dialect-scope.ts';
import { identifiedAs, isApiKey, isIssued, principalOf, tokenOf } from './request-identity.ts';

const requestWith = (headers: Record<string, string>, query = '') =>
  new Request(`http://server/path${query}`, { headers });

const notHere = () => Promise.reject(new Error('not here'));

/** Verifies every token as a key limited to `dialects`. */
const authenticatorOf = (dialects: readonly string[] | undefined): Authenticator => ({
  open: false,
  verify: async () => (dialects === undefined ? LOCAL : { ...LOCAL, dialects }),
  keyOf: async () => null,
  login: notHere,
  signIn: notHere,
  refresh: notHere,
  tokenFor: notHere,
  revoke: notHere,
  onTokenRevoked: () => () => undefined,
});

test('a token is read from the bearer first, then from x-api-key, then from the query', () => {
  const all = { authorization: 'Bearer one', 'x-api-key': 'two' };
  expect(tokenOf(requestWith(all, '?token=three'))).toBe('one');
  expect(tokenOf(requestWith({ 'x-api-key': 'two' }, '?token=three'))).toBe('two');
  expect(tokenOf(requestWith({ 'x-api-key': '' }, '?token=three'))).toBe('three');
  expect(tokenOf(requestWith({ authorization: 'Basic one', 'x-api-key': 'two' }))).toBe('two');
  for (const query of ['', '?token=', '?other=three']) expect(tokenOf(requestWith({}, query))).toBeNull();
});

test('distinguishes keys and tokens of this server from arbitrary keys of vendors’ clients', () => {
  for (const token of ['a.b.c', 'plk_', 'plk_anything'])
    expect([token, isIssued(token)]).toEqual([token, true]);
  for (const token of ['none', 'sk-abc', 'a.b', 'a..c', 'a.b.c.d', 'x plk_', ''])
    expect([token, isIssued(token)]).toEqual([token, false]);
  expect([isApiKey('plk_x'), isApiKey('a.b.c')]).toEqual([true, false]);
});

test('remembers the principal of a request', async () => {
  const request = requestWith({ 'x-api-key': 'plk_x' });
  expect(identifiedAs(request)).toBeUndefined();
  const principal = await principalOf(authenticatorOf(undefined), request);
  expect(identifiedAs(request)).toBe(principal);
});

test('a limited key is accepted only by its dialects', async () => {
  const outcome = (dialects: readonly string[] | undefined, dialect: string | null) =>
    forDialect(authenticatorOf(dialects), dialect)
      .verify('plk_x')
      .then(
        () => 'accepted',
        ({ code }: { code: string }) => code,
      );
  expect(await outcome(undefined, 'one')).toBe('accepted');
  expect(await outcome(undefined, null)).toBe('accepted');
  expect(await outcome(['one', 'two'], 'two')).toBe('accepted');
  expect(await outcome(['one'], 'two')).toBe('forbidden');
  expect(await outcome(['one'], null)).toBe('forbidden');
});
