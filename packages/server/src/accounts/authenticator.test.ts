import { beforeAll, describe, expect, test } from 'bun:test';
import { PrincipalId, ROLE_PERMISSIONS } from '@parlance/protocol';
import { revocationsInMemory, usersInMemory } from '../testing/accounts/users.ts';
import { openMemoryStore } from '../testing/stores/memory/store.ts';
import { openAuthenticator } from './authenticator.ts';
import { hashPassword } from './passwords.ts';
import type { User } from './store.ts';
import { openTokens } from './tokens.ts';

const secret = new TextEncoder().encode('0123456789abcdef0123456789abcdef');
const start = 1_800_000_000_000;
const now = () => start;
const here = '192.0.2.1';
const refusal = { name: 'Fault', code: 'unauthenticated' };
const quiet = () => undefined;
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
let ann: User;
beforeAll(async () => {
  ann = { name: 'ann', role: 'user', passwordHash: await hashPassword('correct'), createdAt: start - 1000 };
});

function gateOver(users: ReturnType<typeof usersInMemory>, open = false, mayKeep?: () => boolean) {
  const revocations = revocationsInMemory(mayKeep);
  const { apiKeys, pairings, signIns } = openMemoryStore();
  const counted: string[] = [];
  const meter = { add: (_: string, label = '') => void counted.push(label), observe: quiet, gauge: quiet };
  const limits = { attempts: 3 };
  const authenticator = openAuthenticator({
    users,
    apiKeys,
    pairings,
    revocations,
    signIns,
    secret,
    open,
    limits,
    log,
    meter,
    now,
  });
  return { store: users, revocations, authenticator, counted };
}

const gateFor = (...users: User[]) => gateOver(usersInMemory(...users));

test('a user logs in and each request with the token has that principal', async () => {
  const { authenticator, counted } = gateFor(ann);
  const login = await authenticator.login('ann', 'correct', here);
  const principal = {
    id: PrincipalId.parse('ann'),
    role: 'user' as const,
    permissions: ROLE_PERMISSIONS.user,
  };
  expect(login).toMatchObject({ principal, expiresAt: start + 24 * 60 * 60 * 1000 });
  expect(await authenticator.verify(login.token)).toEqual(principal);
  expect(counted).toEqual(['accepted']);
});

test('the holder of a token is cached while the store allows it, until the next change', async () => {
  const users = usersInMemory(ann);
  let reads = 0;
  const { find } = users;
  const counting = { ...users, find: (name: string) => find(name).finally(() => reads++) };
  let noticed = true;
  const { authenticator, revocations } = gateOver(counting, false, () => noticed);
  const { token } = await authenticator.login('ann', 'correct', here);
  const readsOf = async (work: () => Promise<unknown>) => {
    const before = reads;
    await work();
    return reads - before;
  };
  const verify = () => authenticator.verify(token);
  expect([await readsOf(verify), await readsOf(verify), await readsOf(verify)]).toEqual([1, 0, 0]);
  revocations.notify();
  expect([await readsOf(verify), await readsOf(verify)]).toEqual([1, 0]);
  noticed = false;
  expect([await readsOf(verify), await readsOf(verify)]).toEqual([1, 1]);
  noticed = true;
  await authenticator.revoke(token);
  await expect(verify()).rejects.toMatchObject(refusal);
});

test('a wrong password and an unknown name get the same error', async () => {
  const { authenticator } = gateFor(ann);
  const messageOf = (name: string, password: string) =>
    authenticator.login(name, password, here).then(
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

test('after too many failures a correct password is refused with a retry delay, without reading the store', async () => {
  const { authenticator, store, counted } = gateFor(ann);
  for (const _ of [1, 2, 3])
    await expect(authenticator.login('ann', 'wrong', here)).rejects.toMatchObject(refusal);
  store.find = () => Promise.reject(new Error('looked'));
  const limited = await authenticator.login('ann', 'correct', here).catch((fault) => fault);
  expect(limited).toMatchObject({ name: 'Fault', code: 'limited', retryAfterMs: expect.any(Number) });
  expect(counted).toEqual(['refused', 'refused', 'refused', 'limited']);
});

describe('a token is refused', () => {
  const cases: [why: string, change: (over: ReturnType<typeof gateOver>) => Promise<unknown>][] = [
    ['when its user is removed', ({ store }) => store.remove('ann')],
    ['when the password was changed', ({ store }) => store.put({ ...ann, passwordHash: 'other' })],
    ['when the role was changed', ({ store }) => store.put({ ...ann, role: 'admin' })],
    [
      'when someone has taken over the name',
      async ({ store }) => {
        await store.remove('ann');
        await store.put(ann);
      },
    ],
  ];
  for (const [why, change] of cases)
    test(why, async () => {
      const over = gateFor(ann);
      const { token } = await over.authenticator.login('ann', 'correct', here);
      await change(over);
      await expect(over.authenticator.verify(token)).rejects.toMatchObject(refusal);
      await expect(over.authenticator.revoke(token)).rejects.toMatchObject(refusal);
    });

  test('if it was revoked, while other tokens of that user stay valid', async () => {
    const { authenticator } = gateFor(ann);
    const [one, other] = [
      await authenticator.login('ann', 'correct', here),
      await authenticator.login('ann', 'correct', here),
    ];
    await authenticator.revoke(one.token);
    await expect(authenticator.verify(one.token)).rejects.toMatchObject(refusal);
    expect(await authenticator.verify(other.token)).toMatchObject({ id: 'ann' });
  });
});

test('a token issued in the same millisecond as a change is valid if it was issued after the change', async () => {
  const { authenticator, store } = gateFor(ann);
  const before = await authenticator.login('ann', 'correct', here);
  await store.put({ ...ann, role: 'developer' });
  const after = await authenticator.login('ann', 'correct', here);
  await expect(authenticator.verify(before.token)).rejects.toMatchObject(refusal);
  expect(await authenticator.verify(after.token)).toMatchObject({ role: 'developer' });
});

test('a login that overlaps with a password change returns an invalid token', async () => {
  const { authenticator, store } = gateFor(ann);
  const find = store.find;
  store.find = async (name) => {
    const found = await find(name);
    store.find = find;
    await store.put({ ...ann, passwordHash: 'other' });
    return found;
  };
  const { token } = await authenticator.login('ann', 'correct', here);
  await expect(authenticator.verify(token)).rejects.toMatchObject(refusal);
});

describe('local', () => {
  test('is never the principal of a token, even if the store contains such a user', async () => {
    const { authenticator, store } = gateFor({ ...ann, name: 'local' });
    const local = await store.find('local');
    const { token } = await openTokens(secret, now).issue({
      name: 'local',
      role: 'admin',
      tokenVersion: local?.tokenVersion ?? '',
    });
    await expect(authenticator.verify(token)).rejects.toMatchObject(refusal);
    await expect(authenticator.login('local', 'correct', here)).rejects.toMatchObject(refusal);
  });
});

test('open mode still refuses a bad token', async () => {
  const { authenticator } = gateOver(usersInMemory(), true);
  expect(authenticator.open).toBe(true);
  await expect(authenticator.verify('nonsense')).rejects.toMatchObject(refusal);
});

test('a store failure is an internal error, not a refusal', async () => {
  const { authenticator, store } = gateFor(ann);
  const { token } = await authenticator.login('ann', 'correct', here);
  store.find = () => Promise.reject(new Error('disk gone'));
  await expect(authenticator.verify(token)).rejects.toThrow('disk gone');
});
