import { expect, test } from 'bun:test';
import { openKeyTest } from '../testing/accounts/keys.ts';
import { KEYS_PER_OWNER } from './api-keys.ts';

test('the text of a key is shown once: neither lists nor the store have it', async () => {
  const { keys, make, store, clock } = await openKeyTest();
  const { key, ...view } = await make('ada', { name: ' laptop ', dialects: ['one'] });
  expect(view).toMatchObject({
    owner: 'ada',
    name: 'laptop',
    role: 'developer',
    dialects: ['one'],
    createdAt: clock.now,
    expiresAt: null,
    lastUsedAt: null,
  });
  expect(await keys.list('ada')).toEqual([view]);
  expect(JSON.stringify([await keys.list(), await store.apiKeys.list()])).not.toContain(key.slice(-43));
  expect(JSON.stringify(await keys.list())).not.toContain('hash');
});

test('a key cannot have more than its owner', async () => {
  const { make } = await openKeyTest({ ada: 'user' });
  for (const role of ['developer', 'admin'] as const)
    await expect(make('ada', { role })).rejects.toMatchObject({ code: 'forbidden' });
  expect((await make('ada', { role: 'user' })).role).toBe('user');
});

test('invalid values are refused with the name of the field', async () => {
  const { make, clock } = await openKeyTest();
  const problems: [Parameters<typeof make>[1], string][] = [
    [{ name: '  ' }, 'name'],
    [{ name: 'x'.repeat(101) }, 'name'],
    [{ name: 'two\nlines' }, 'name'],
    [{ name: 'right \u202e to left' }, 'name'],
    [{ dialects: [] }, 'dialects'],
    [{ dialects: ['one', 'three'] }, 'dialects'],
    [{ expiresAt: clock.now }, 'expiresAt'],
  ];
  for (const [wanted, field] of problems)
    await expect(make('ada', wanted)).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringMatching(new RegExp(`^${field}: `)),
    });
});

test('only users have keys, and not too many', async () => {
  const { make, keys } = await openKeyTest();
  await expect(make('local')).rejects.toMatchObject({ code: 'forbidden' });
  for (let made = 0; made < KEYS_PER_OWNER; made++) await make();
  await expect(make()).rejects.toMatchObject({ code: 'forbidden' });
  const [first] = await keys.list('ada');
  await keys.revoke(first?.id ?? '');
  expect((await make()).owner).toBe('ada');
});

test('a key is revoked by its owner, or by an admin', async () => {
  const { make, keys } = await openKeyTest({ ada: 'user', bob: 'user' });
  const [one, other] = [await make(), await make()];
  const unknown = { code: 'not_found' };
  await expect(keys.revoke(one.id, 'bob')).rejects.toMatchObject(unknown);
  await keys.revoke(one.id, 'ada');
  await expect(keys.revoke(one.id)).rejects.toMatchObject(unknown);
  await keys.revoke(other.id);
  expect(await keys.list()).toEqual([]);
});
