import { afterAll, expect, spyOn, test } from 'bun:test';
import { hashAtRealCost } from '../testing/quick-passwords.ts';
import { hashPassword, newPasswordProblem, passwordProblem, verifyPassword } from './passwords.ts';

afterAll(hashAtRealCost());

test('a hash is argon2id and matches only its own password', async () => {
  const hash = await hashPassword('correct horse');
  expect(hash).toStartWith('$argon2id$v=19$m=19456,t=2,p=1$');
  expect(await verifyPassword('correct horse', hash)).toBe(true);
  expect(await verifyPassword('Correct horse', hash)).toBe(false);
});

test('two hashes of the same password differ', async () => {
  expect(await hashPassword('same')).not.toBe(await hashPassword('same'));
});

test('login as an unknown user fails, even with the password of the stand-in hash', async () => {
  expect(await verifyPassword('x'.repeat(20), null)).toBe(false);
});

test('a password for an unknown name is hashed at the same cost', async () => {
  const verify = spyOn(Bun.password, 'verify');
  await verifyPassword('wrong', await hashPassword('known'));
  await verifyPassword('wrong', null);
  const costs = verify.mock.calls.map(([, hash]) => String(hash).split('$').slice(0, 4));
  verify.mockRestore();
  const cost = ['', 'argon2id', 'v=19', 'm=19456,t=2,p=1'];
  expect(costs).toEqual([cost, cost]);
});

test('empty and very long passwords are refused and never match', async () => {
  const hash = await hashPassword('known');
  for (const password of ['', 'x'.repeat(1025), 'é'.repeat(513)]) {
    expect(passwordProblem(password)).not.toBeNull();
    await expect(hashPassword(password)).rejects.toThrow('the password is');
    expect(await verifyPassword(password, hash)).toBe(false);
  }
  expect(passwordProblem('x'.repeat(1024))).toBeNull();
});

test('a new password needs at least 8 characters; a shorter existing one still matches', async () => {
  for (const short of ['1', '1234567', 'пароль7', '👍👍👍👍👍👍👍'])
    expect(newPasswordProblem(short)).toBe('the password has fewer than 8 characters');
  for (const good of ['12345678', 'пароль78', '👍👍👍👍👍👍👍👍'])
    expect(newPasswordProblem(good)).toBeNull();
  expect(newPasswordProblem('')).toBe('the password is empty');
  expect(newPasswordProblem('x'.repeat(1025))).toBe('the password is longer than 1024 bytes');
  expect(await verifyPassword('1', await hashPassword('1'))).toBe(true);
});

test('passwords are hashed sequentially, and a failed hash does not block the next one', async () => {
  const real = Bun.password.verify;
  let [now, max] = [0, 0];
  const spied = spyOn(Bun.password, 'verify').mockImplementation(async (...given) => {
    max = Math.max(max, ++now);
    try {
      return await real(...given);
    } finally {
      now--;
    }
  });
  try {
    const hash = await hashPassword('known');
    const tried = ['known', 'wrong', 'known'].map((password) => verifyPassword(password, hash));
    const damaged = verifyPassword('known', 'no hash');
    const last = verifyPassword('known', hash);
    expect(await Promise.all(tried)).toEqual([true, false, true]);
    await expect(damaged).rejects.toThrow();
    expect(await last).toBe(true);
    expect([spied.mock.calls.length, max]).toEqual([5, 1]);
  } finally {
    spied.mockRestore();
  }
});
