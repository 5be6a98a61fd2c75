import { expect, test } from 'bun:test';
import { hashPassword, passwordProblem, verifyPassword } from './passwords.ts';

test('a hash is argon2id and fits its own password only', async () => {
  const hash = await hashPassword('correct horse');
  expect(hash).toStartWith('$argon2id$v=19$m=19456,t=2,p=1$');
  expect(await verifyPassword('correct horse', hash)).toBe(true);
  expect(await verifyPassword('Correct horse', hash)).toBe(false);
});

test('two hashes of one password differ', async () => {
  expect(await hashPassword('same')).not.toBe(await hashPassword('same'));
});

test('nobody logs in as a user that does not exist, not even with the password of the stand-in hash', async () => {
  expect(await verifyPassword('x'.repeat(20), null)).toBe(false);
});

test('a password for a name that does not exist is hashed at the same cost', async () => {
  const hash = await hashPassword('known');
  const timeOf = async (stored: string | null) => {
    const start = performance.now();
    await verifyPassword('wrong', stored);
    return performance.now() - start;
  };
  const fastest = async (stored: string | null) =>
    Math.min(await timeOf(stored), await timeOf(stored), await timeOf(stored), await timeOf(stored));
  expect(await fastest(null)).toBeGreaterThan((await fastest(hash)) / 3);
});

test('empty and very long passwords are refused, and match nothing', async () => {
  const hash = await hashPassword('known');
  for (const password of ['', 'x'.repeat(1025), 'é'.repeat(513)]) {
    expect(passwordProblem(password)).not.toBeNull();
    await expect(hashPassword(password)).rejects.toThrow('the password is');
    expect(await verifyPassword(password, hash)).toBe(false);
  }
  expect(passwordProblem('x'.repeat(1024))).toBeNull();
});
