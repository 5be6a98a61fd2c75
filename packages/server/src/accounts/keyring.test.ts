import { expect, test } from 'bun:test';
import { PrincipalId, ROLE_PERMISSIONS } from '@parlance/protocol';
import { openKeyTest } from '../testing/accounts/keys.ts';

const refused = { name: 'Fault', code: 'unauthenticated' };

/** A well-formed key that does not exist; `like` keeps the id of a real one. */
const forged = (like = `plk_${'0'.repeat(16)}`) => `${like.slice(0, 20)}_${'x'.repeat(43)}`;

test('a key acts as its owner; one that is not ours is refused, also in open mode', async () => {
  const { authenticator, make } = await openKeyTest();
  const { key } = await make();
  const ada = {
    id: PrincipalId.parse('ada'),
    role: 'developer' as const,
    permissions: ROLE_PERMISSIONS.developer,
  };
  expect(await authenticator.verify(key)).toEqual({ ...ada, apiKey: key.slice(4, 20) });
  for (const text of [forged(), forged(key), 'plk_', `${key}x`, key.toLowerCase()])
    await expect(authenticator.verify(text)).rejects.toMatchObject(refused);
});

test('no refusal contains the key', async () => {
  const { authenticator } = await openKeyTest();
  const thrown = await authenticator.verify(forged()).catch((fault: Error) => fault);
  expect(Bun.inspect(thrown)).not.toContain('xxxx');
});

test('a key grants its own role, and never more than its owner has now', async () => {
  const { authenticator, make, setRole } = await openKeyTest({ ada: 'admin' });
  const [full, low] = [await make(), await make('ada', { role: 'user' })];
  const roles = async () =>
    Promise.all([full, low].map(async ({ key }) => (await authenticator.verify(key)).role));
  expect(await roles()).toEqual(['admin', 'user']);
  await setRole('ada', 'developer');
  expect(await roles()).toEqual(['developer', 'user']);
  await setRole('ada', 'user');
  expect(await roles()).toEqual(['user', 'user']);
  await setRole('ada', 'admin');
  expect(await roles()).toEqual(['admin', 'user']);
});

test('a key for some dialects has their names', async () => {
  const { authenticator, make } = await openKeyTest();
  const { key } = await make('ada', { dialects: ['two', 'two'] });
  expect((await authenticator.verify(key)).dialects).toEqual(['two']);
});

test('a key is read once, and again after a change of users or keys', async () => {
  const { authenticator, make, reads, setRole, keys } = await openKeyTest();
  const [one, other] = [await make(), await make()];
  const verify = () => authenticator.verify(one.key);
  await verify();
  await Promise.all([verify(), verify()]);
  expect(reads).toEqual([one.id]);
  await setRole('bob', 'user');
  await verify();
  await keys.revoke(other.id);
  await verify();
  expect(reads).toEqual([one.id, one.id, one.id]);
});

test('a key ends with its revocation, its expiry, or its owner', async () => {
  const { authenticator, make, keys, clock, store, setRole } = await openKeyTest({
    ada: 'user',
    bob: 'user',
  });
  const [revoked, expiring, orphan] = [
    await make(),
    await make('ada', { expiresAt: clock.now + 1_000 }),
    await make('bob'),
  ];
  for (const { key } of [revoked, expiring, orphan]) await authenticator.verify(key);
  await keys.revoke(revoked.id, 'ada');
  await expect(authenticator.verify(revoked.key)).rejects.toMatchObject(refused);
  clock.now += 1_000;
  await expect(authenticator.verify(expiring.key)).rejects.toMatchObject(refused);
  await store.remove('bob');
  await expect(authenticator.verify(orphan.key)).rejects.toMatchObject(refused);
  await setRole('bob', 'user');
  await expect(authenticator.verify(orphan.key)).rejects.toMatchObject(refused);
});

test('invalid keys are limited per address; keys that were valid before are not', async () => {
  const { authenticator, make, reads, store } = await openKeyTest();
  const [known, fresh] = [await make(), await make()];
  await authenticator.verify(known.key, { address: 'here' });
  for (let tries = 0; tries < 10; tries++)
    await expect(authenticator.verify(forged(), { address: 'here' })).rejects.toMatchObject(refused);
  const before = reads.length;
  const limited = { code: 'limited', retryAfterMs: expect.any(Number) };
  for (const key of [forged(), fresh.key])
    await expect(authenticator.verify(key, { address: 'here' })).rejects.toMatchObject(limited);
  expect(reads.length).toBe(before);
  expect((await authenticator.verify(fresh.key, { address: 'elsewhere' })).id).toBe(PrincipalId.parse('ada'));
  // Its cached result is dropped, and it is looked up again.
  await store.remove('nobody');
  await store.put({ name: 'bob', role: 'user', passwordHash: 'hash', createdAt: 1 });
  expect((await authenticator.verify(known.key, { address: 'here' })).id).toBe(PrincipalId.parse('ada'));
});

test('many concurrent first requests with a valid key are not limited', async () => {
  const { authenticator, make } = await openKeyTest();
  const { key } = await make();
  const all = await Promise.all(
    Array.from({ length: 50 }, () => authenticator.verify(key, { address: 'here' })),
  );
  expect(all.length).toBe(50);
});

test('the last use is written when the authenticator closes, and not for each request', async () => {
  const { authenticator, make, store, clock } = await openKeyTest();
  const { id, key } = await make();
  await authenticator.verify(key);
  clock.now += 5_000;
  await authenticator.verify(key);
  expect((await store.apiKeys.find(id))?.lastUsedAt).toBeNull();
  await authenticator.close();
  expect((await store.apiKeys.find(id))?.lastUsedAt).toBe(clock.now);
});

test('a key does not log out, and stays valid', async () => {
  const { authenticator, make } = await openKeyTest();
  const { key } = await make();
  await expect(authenticator.revoke(key)).rejects.toMatchObject({ code: 'forbidden' });
  await expect(authenticator.revoke(forged())).rejects.toMatchObject(refused);
  expect((await authenticator.verify(key)).role).toBe('developer');
});
