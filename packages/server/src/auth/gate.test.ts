import { beforeAll, describe, expect, test } from 'bun:test';
import { PrincipalId, ROLE_PERMISSIONS } from '@parlance/protocol';
import type { User } from '../core/ports/users.ts';
import { openGate } from './gate.ts';
import { hashPassword } from './passwords.ts';
import { usersInMemory } from './test-users.ts';
import { openTokens } from './tokens.ts';

const secret = new TextEncoder().encode('0123456789abcdef0123456789abcdef');
const start = 1_800_000_000_000;
const now = () => start;
const refusal = { name: 'Fault', code: 'unauthenticated' };
let ann: User;
beforeAll(async () => {
  ann = { name: 'ann', role: 'user', passwordHash: await hashPassword('correct'), createdAt: start - 1000 };
});

const gateOver = (...users: User[]) => {
  const store = usersInMemory(...users);
  return { store, gate: openGate({ users: store, secret, open: false, now }) };
};

test('a user logs in and is that principal wherever the token is shown', async () => {
  const { gate } = gateOver(ann);
  const login = await gate.login('ann', 'correct');
  const principal = {
    id: PrincipalId.parse('ann'),
    role: 'user' as const,
    permissions: ROLE_PERMISSIONS.user,
  };
  expect(login).toMatchObject({ principal, expiresAt: start + 24 * 60 * 60 * 1000 });
  expect(await gate.verify(login.token)).toEqual(principal);
});

test('a wrong password and an unknown name are refused in the same words', async () => {
  const { gate } = gateOver(ann);
  const messageOf = (name: string, password: string) =>
    gate.login(name, password).then(
      () => 'logged in',
      (fault: Error) => `${fault.name}: ${fault.message}`,
    );
  const message = await messageOf('ann', 'wrong');
  expect(message).toBe('Fault: Invalid credentials');
  for (const [name, password] of [
    ['bob', 'correct'],
    ['ann', ''],
    ['', ''],
    ['local', 'correct'],
    ['ANN', 'correct'],
  ] as const)
    expect(await messageOf(name, password)).toBe(message);
});

test('the role is the one in the store, whatever the token says', async () => {
  const { gate, store } = gateOver(ann);
  const { token } = await gate.login('ann', 'correct');
  await store.put({ ...ann, role: 'admin' });
  expect(await gate.verify(token)).toMatchObject({ role: 'admin', permissions: [...ROLE_PERMISSIONS.admin] });
});

test('a token ends with its user', async () => {
  const { gate, store } = gateOver(ann);
  const { token } = await gate.login('ann', 'correct');
  await store.remove('ann');
  await expect(gate.verify(token)).rejects.toMatchObject(refusal);
});

test('a token does not pass to a later user of the same name', async () => {
  const { gate, store } = gateOver(ann);
  const { token } = await gate.login('ann', 'correct');
  await store.put({ ...ann, createdAt: start + 60_000 });
  await expect(gate.verify(token)).rejects.toMatchObject(refusal);
});

describe('local', () => {
  test('cannot be had by a token, even if the store holds such a user', async () => {
    const { gate } = gateOver({ ...ann, name: 'local' });
    const { token } = await openTokens(secret, now).issue('local', 'admin');
    await expect(gate.verify(token)).rejects.toMatchObject(refusal);
    await expect(gate.login('local', 'correct')).rejects.toMatchObject(refusal);
  });
});

test('open mode still refuses a bad token', async () => {
  const gate = openGate({ users: usersInMemory(), secret, open: true });
  expect(gate.open).toBe(true);
  await expect(gate.verify('nonsense')).rejects.toMatchObject(refusal);
});

test('a store that fails is a bug, not a refusal', async () => {
  const { token } = await openTokens(secret, now).issue('ann', 'user');
  const users = { ...usersInMemory(), find: () => Promise.reject(new Error('disk gone')) };
  await expect(openGate({ users, secret, open: false, now }).verify(token)).rejects.toThrow('disk gone');
});
