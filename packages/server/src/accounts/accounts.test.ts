import { describe, expect, test } from 'bun:test';
import type { Role } from '@parlance/protocol';
import { revocationsInMemory, usersInMemory } from '../testing/accounts/users.ts';
import { openMemoryStore } from '../testing/stores/memory/store.ts';
import { openAccounts } from './accounts.ts';
import { openAuthenticator } from './authenticator.ts';
import { hashPassword } from './passwords.ts';

const quiet = () => undefined;
const HASHES = { ada: await hashPassword('ada-password'), uma: await hashPassword('uma-password') };

function opened(...roles: [name: 'ada' | 'uma', role: Role][]) {
  const users = usersInMemory(
    ...roles.map(([name, role]) => ({ name, role, passwordHash: HASHES[name], createdAt: 1 })),
  );
  const authenticator = openAuthenticator({
    users,
    apiKeys: openMemoryStore().apiKeys,
    pairings: openMemoryStore().pairings,
    revocations: revocationsInMemory(),
    signIns: openMemoryStore().signIns,
    secret: new Uint8Array(32).fill(7),
    open: false,
    limits: { attempts: 3 },
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  });
  return {
    users,
    authenticator,
    accounts: openAccounts({ users, authenticator, named: ['ada'], now: () => 2 }),
  };
}

const fault = (code: string, message: string) => expect.objectContaining({ code, message });

describe('the last admin', () => {
  const only = fault('forbidden', 'ada is the only admin: make another user an admin first.');

  test('cannot be removed or demoted', async () => {
    const { accounts, users } = opened(['ada', 'admin'], ['uma', 'user']);
    await expect(accounts.remove('ada')).rejects.toEqual(only);
    await expect(accounts.change('ada', { role: 'developer' })).rejects.toEqual(only);
    await accounts.change('ada', { role: 'admin', password: 'another-one' });
    expect((await users.find('ada'))?.role).toBe('admin');
  });

  test('remains if the last two admins are demoted concurrently', async () => {
    const { accounts } = opened(['ada', 'admin'], ['uma', 'admin']);
    const outcomes = await Promise.allSettled([
      accounts.change('ada', { role: 'user' }),
      accounts.change('uma', { role: 'user' }),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect((await accounts.list()).map(({ role }) => role)).toEqual(['user', 'admin']);
  });
});

test('two users with the same name cannot be added, even concurrently', async () => {
  const { accounts } = opened(['ada', 'admin']);
  const wanted = { name: 'new', password: 'password', role: 'user' as const };
  const outcomes = await Promise.allSettled([accounts.add(wanted), accounts.add(wanted)]);
  expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  await expect(accounts.add(wanted)).rejects.toEqual(fault('invalid', 'name: the user new already exists'));
});

test('the user list marks users from the settings and contains no hash', async () => {
  const { accounts } = opened(['ada', 'admin'], ['uma', 'user']);
  expect(await accounts.list()).toEqual([
    { name: 'ada', role: 'admin', createdAt: 1, fromSettings: true },
    { name: 'uma', role: 'user', createdAt: 1, fromSettings: false },
  ]);
});

test('invalid names and passwords are refused, and unknown users are not found', async () => {
  const { accounts } = opened(['ada', 'admin']);
  const add = (name: string, password: string) => accounts.add({ name, password, role: 'user' });
  await expect(add('local', 'x')).rejects.toMatchObject({ code: 'invalid' });
  await expect(add('a b', 'x')).rejects.toMatchObject({ code: 'invalid' });
  await expect(add('bob', '')).rejects.toEqual(fault('invalid', 'the password is empty'));
  for (const ask of [accounts.remove, accounts.logOut, (name: string) => accounts.change(name, {})])
    await expect(ask('bob')).rejects.toEqual(fault('not_found', 'There is no such user.'));
});

describe('changing your own password', () => {
  test('requires the old password; earlier tokens end and the new token is valid', async () => {
    const { accounts, authenticator } = opened(['uma', 'user']);
    const before = await authenticator.login('uma', 'uma-password', 'here');
    const { token } = await accounts.changePassword(
      'uma',
      { old: 'uma-password', password: 'better-one' },
      'here',
    );
    await expect(authenticator.verify(before.token)).rejects.toMatchObject({ code: 'unauthenticated' });
    expect(await authenticator.verify(token)).toMatchObject({ id: 'uma', role: 'user' });
    await expect(authenticator.login('uma', 'uma-password', 'here')).rejects.toMatchObject({
      code: 'unauthenticated',
    });
  });

  test('counts failed attempts as failed logins', async () => {
    const { accounts } = opened(['uma', 'user']);
    const guess = () => accounts.changePassword('uma', { old: 'a guess', password: 'better-one' }, 'here');
    for (let attempt = 0; attempt < 3; attempt++)
      await expect(guess()).rejects.toEqual(fault('forbidden', 'The old password is wrong.'));
    await expect(guess()).rejects.toMatchObject({ code: 'limited' });
    await expect(
      accounts.changePassword('uma', { old: 'uma-password', password: 'better-one' }, 'here'),
    ).rejects.toMatchObject({
      code: 'limited',
    });
  });

  test('leaves the password unchanged if the new one is invalid', async () => {
    const { accounts, authenticator } = opened(['uma', 'user']);
    const asked = accounts.changePassword('uma', { old: 'uma-password', password: '' }, 'here');
    await expect(asked).rejects.toMatchObject({ code: 'invalid' });
    expect((await authenticator.login('uma', 'uma-password', 'here')).principal.id).toBe('uma' as never);
  });
});
