import { expect, test } from 'bun:test';
import { LOCAL, type Principal, PrincipalId, ROLE_PERMISSIONS, type Role } from '@parlance/protocol';
import { openKeyTest } from '../testing/accounts/keys.ts';
import { openPairings } from './pairings.ts';

const ORIGIN = `chrome-extension://${'a'.repeat(32)}`;
const quiet = () => undefined;
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const personOf = (name: string, role: Role): Principal => ({
  id: PrincipalId.parse(name),
  role,
  permissions: ROLE_PERMISSIONS[role],
});
const ada = personOf('ada', 'admin');
const bob = personOf('bob', 'user');

async function opened() {
  const place = await openKeyTest({ ada: 'admin', bob: 'user' });
  const { store, clock } = place;
  const pairings = openPairings({ pairings: store.pairings, log, now: () => clock.now });
  const request = (address = 'here') => pairings.request({ origin: ORIGIN, name: 'My browser' }, address);
  return { ...place, pairings, request };
}

test('the token is worth nothing until the code was allowed, and then acts as the person', async () => {
  const { authenticator, pairings, request, store } = await opened();
  const { code, token } = await request();
  expect(code).toMatch(/^[2-9B-Z]{4}-[2-9B-Z]{4}$/);
  expect(await pairings.own(token)).toMatchObject({ status: 'waiting' });
  await expect(authenticator.verify(token, { origin: ORIGIN })).rejects.toMatchObject({
    code: 'unauthenticated',
  });
  expect(await authenticator.keyOf(token)).toBeNull();
  expect(await pairings.find(code, bob)).toMatchObject({ code, name: 'My browser', origin: ORIGIN });
  await pairings.allow(code.toLowerCase().replace('-', ' '), bob);
  expect(await pairings.own(token)).toEqual({ status: 'allowed', owner: 'bob' });
  expect(await authenticator.verify(token, { origin: ORIGIN })).toMatchObject({ id: 'bob', role: 'user' });
  expect(await authenticator.keyOf(token)).toMatchObject({ origin: ORIGIN });
  expect(JSON.stringify(await store.pairings.list())).not.toContain(token.slice(-20));
});

test('a code is good once, and not after ten minutes', async () => {
  const { pairings, request, clock } = await opened();
  const [one, other] = [await request(), await request()];
  const answers = await Promise.allSettled([pairings.allow(one.code, ada), pairings.allow(one.code, bob)]);
  expect(answers.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  await expect(pairings.allow(one.code, bob)).rejects.toMatchObject({ code: 'not_found' });
  expect(await pairings.waiting()).toMatchObject([{ code: other.code }]);
  clock.now += 10 * 60_000;
  await expect(pairings.allow(other.code, bob)).rejects.toMatchObject({ code: 'not_found' });
  await expect(pairings.own(other.token)).rejects.toMatchObject({ code: 'not_found' });
  expect(await pairings.waiting()).toEqual([]);
});

test('an extension never has more permissions than its user, and is never an admin', async () => {
  const { authenticator, pairings, request, setRole } = await opened();
  const { code, token } = await request();
  expect(await pairings.allow(code, ada)).toMatchObject({ owner: 'ada', role: 'developer' });
  expect((await authenticator.verify(token, { origin: ORIGIN })).role).toBe('developer');
  await setRole('ada', 'user');
  expect((await authenticator.verify(token, { origin: ORIGIN })).role).toBe('user');
});

test('in open mode an extension may act as local', async () => {
  const { authenticator, pairings, request } = await opened();
  const { code, token } = await request();
  expect(await pairings.allow(code, LOCAL)).toMatchObject({ owner: 'local' });
  expect(await authenticator.verify(token, { origin: ORIGIN })).toEqual(LOCAL);
  expect(await pairings.list(ada)).toEqual([]);
  expect(await pairings.list(LOCAL)).toHaveLength(1);
});

test('a revoked extension is refused, and what lives on its token ends', async () => {
  const { authenticator, pairings, request } = await opened();
  const { code, token } = await request();
  const { id } = await pairings.allow(code, bob);
  const { promise, resolve } = Promise.withResolvers<string>();
  authenticator.onTokenRevoked(token, resolve, await authenticator.verify(token, { origin: ORIGIN }));
  await expect(pairings.revoke(id, ada)).rejects.toMatchObject({ code: 'not_found' });
  await pairings.revoke(id, bob);
  expect(await promise).toContain('revoked');
  await expect(authenticator.verify(token, { origin: ORIGIN })).rejects.toMatchObject({
    code: 'unauthenticated',
  });
  await expect(pairings.own(token)).rejects.toMatchObject({ code: 'not_found' });
});

test('an extension can end its own pairing, and a person can deny it', async () => {
  const { authenticator, pairings, request } = await opened();
  const [one, other] = [await request(), await request()];
  await pairings.deny(one.code, bob);
  await expect(pairings.own(one.token)).rejects.toMatchObject({ code: 'not_found' });
  await pairings.allow(other.code, bob);
  await authenticator.verify(other.token, { origin: ORIGIN });
  await pairings.end(other.token);
  await expect(authenticator.verify(other.token, { origin: ORIGIN })).rejects.toMatchObject({
    code: 'unauthenticated',
  });
});

test.each([
  null,
  'https://evil.example',
  'chrome-extension://abc',
  `chrome-extension://${'z'.repeat(32)}`,
  `chrome-extension://${'a'.repeat(32)}/`,
  'http://localhost:3000',
])('the origin %s cannot be paired', async (origin) => {
  const { pairings } = await opened();
  const asking = pairings.request({ origin, name: 'An extension' }, 'here');
  await expect(asking).rejects.toMatchObject({ code: 'forbidden' });
});

test.each(['', '   ', 'a\u202eb', 'a\nb', 'x'.repeat(101)])('the name %j is refused', async (name) => {
  const { pairings } = await opened();
  await expect(pairings.request({ origin: ORIGIN, name }, 'here')).rejects.toMatchObject({ code: 'invalid' });
});

test('requests of one address and wrong codes of one person are limited', async () => {
  const { pairings, request, clock } = await opened();
  const { code } = await request('elsewhere');
  for (let count = 0; count < 20; count++) {
    await request();
    await expect(pairings.find('BBBB-BBBB', bob)).rejects.toMatchObject({ code: 'not_found' });
  }
  await expect(request()).rejects.toMatchObject({ code: 'limited' });
  await expect(pairings.allow(code, bob)).rejects.toMatchObject({ code: 'limited' });
  expect(await pairings.find(code, ada)).toMatchObject({ code });
  clock.now += 10 * 60_000;
  await request();
});

test('an extension that an API key approved ends with the key, and one that its user approved does not', async () => {
  const { authenticator, pairings, request, make, keys, clock } = await opened();
  const expiresAt = clock.now + 60_000;
  const [revoked, expiring] = [await make('bob'), await make('bob', { expiresAt })];
  const paired = async (key?: string) => {
    const { code, token } = await request();
    const pairing = await pairings.allow(
      code,
      bob,
      key === undefined ? null : await authenticator.keyOf(key),
    );
    const ended = Promise.withResolvers<string>();
    authenticator.onTokenRevoked(token, ended.resolve, await authenticator.verify(token, { origin: ORIGIN }));
    return { token, pairing, ended: ended.promise };
  };
  const [one, other, own] = [await paired(revoked.key), await paired(expiring.key), await paired()];
  expect([one, other, own].map(({ pairing: { key, expiresAt } }) => [key, expiresAt])).toEqual([
    [revoked.id, null],
    [expiring.id, expiresAt],
    [null, null],
  ]);
  const refused = { code: 'unauthenticated' };
  await keys.revoke(revoked.id);
  expect(await one.ended).toContain('revoked');
  await expect(authenticator.verify(one.token, { origin: ORIGIN })).rejects.toMatchObject(refused);
  await authenticator.verify(other.token, { origin: ORIGIN });
  clock.now = expiresAt;
  expect(await other.ended).toContain('expired');
  await expect(authenticator.verify(other.token, { origin: ORIGIN })).rejects.toMatchObject(refused);
  await expect(pairings.own(other.token)).rejects.toMatchObject({ code: 'not_found' });
  expect(await authenticator.verify(own.token, { origin: ORIGIN })).toMatchObject({ id: 'bob' });
});

test('the token of an extension is refused from elsewhere', async () => {
  const { authenticator, pairings, request } = await opened();
  const { code, token } = await request();
  await pairings.allow(code, bob);
  for (const caller of [
    undefined,
    {},
    { origin: null, site: null },
    { origin: null, site: 'cross-site' },
    { origin: `${ORIGIN.slice(0, -1)}b`, site: 'none' },
  ])
    await expect(authenticator.verify(token, caller)).rejects.toMatchObject({ code: 'forbidden' });
  for (const caller of [{ origin: ORIGIN }, { origin: null, site: 'none' }])
    expect(await authenticator.verify(token, caller)).toMatchObject({ id: 'bob' });
});
