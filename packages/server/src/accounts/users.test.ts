import { describe, expect, test } from 'bun:test';
import { usersInMemory } from '../testing/accounts/users.ts';
import { verifyPassword } from './passwords.ts';
import { ensureUser, ensureUsers, nameProblem } from './users.ts';

describe('names', () => {
  for (const name of ['ann', 'Ann.B_c-d', 'ann@example.org', '0', 'x'.repeat(64), 'Local', 'localhost'])
    test(`${name} is accepted`, () => expect(nameProblem(name)).toBeNull());
  for (const name of ['', 'local', 'a b', 'a/b', 'a:b', 'é', 'x'.repeat(65), 'a\n'])
    test(`${JSON.stringify(name)} is refused`, () => expect(nameProblem(name)).toBeString());
});

test('without any user the first start creates admin and returns its password, the second does not', async () => {
  const users = usersInMemory();
  const password = await ensureUsers(users, []);
  const admin = await users.find('admin');
  expect(admin?.role).toBe('admin');
  expect(await verifyPassword(password ?? '', admin?.passwordHash ?? null)).toBe(true);
  expect(password?.length).toBeGreaterThanOrEqual(20);
  expect(await ensureUsers(users, [])).toBeNull();
});

test('with configured users no admin is created', async () => {
  const users = usersInMemory();
  expect(await ensureUsers(users, [{ name: 'ann', password: 'one', role: 'user' }])).toBeNull();
  expect((await users.everyone()).map(({ name, role }) => [name, role])).toEqual([['ann', 'user']]);
});

test('an up-to-date configured user is not written again', async () => {
  const users = usersInMemory();
  const wanted = [{ name: 'ann', password: 'one', role: 'user' }] as const;
  await ensureUsers(users, wanted);
  await ensureUsers(users, wanted);
  expect(users.writes).toHaveLength(1);
});

test('a role change keeps the hash, a password change keeps the creation date, and other users stay', async () => {
  const users = usersInMemory({ name: 'zoe', role: 'user', passwordHash: 'hers', createdAt: 1 });
  await ensureUser(users, { name: 'ann', password: 'one', role: 'user' }, 1000);
  const before = await users.find('ann');
  await ensureUser(users, { name: 'ann', password: 'one', role: 'admin' }, 2000);
  expect(await users.find('ann')).toMatchObject({
    name: 'ann',
    createdAt: 1000,
    passwordHash: before?.passwordHash ?? '',
    role: 'admin',
  });
  await ensureUser(users, { name: 'ann', password: 'two', role: 'admin' }, 3000);
  const after = await users.find('ann');
  expect(after?.createdAt).toBe(1000);
  expect(await verifyPassword('two', after?.passwordHash ?? null)).toBe(true);
  expect((await users.find('zoe'))?.passwordHash).toBe('hers');
});

test('a user named local is never created', async () => {
  const users = usersInMemory();
  await expect(ensureUsers(users, [{ name: 'local', password: 'one', role: 'admin' }])).rejects.toThrow(
    'the name local',
  );
  expect(users.writes).toEqual([]);
});
