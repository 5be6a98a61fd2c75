import { afterEach, expect, setSystemTime, test } from 'bun:test';
import { loginAttemptsContract } from '../testing/stores/contract/login-attempts.ts';
import { limitLogins } from './login-limit.ts';

afterEach(() => setSystemTime());

loginAttemptsContract(async (limits) => limitLogins(limits));

test('the limit ends with its window, regardless of further attempts', async () => {
  const attempts = limitLogins({ attempts: 3, windowSeconds: 900 });
  const start = Date.now();
  setSystemTime(new Date(start)); // the clock stands still from here on
  for (let tried = 0; tried < 10; tried++) await attempts.begin('ann', 'evil');
  setSystemTime(new Date(start + 890_000));
  const refused = await attempts.begin('ann', 'evil');
  expect(refused).toMatchObject({ ok: false });
  expect(refused.ok ? 0 : refused.retryAfterMs).toBeLessThanOrEqual(10_000);
  setSystemTime(new Date(start + 901_000));
  expect((await attempts.begin('ann', 'evil')).ok).toBe(true);
});

test('memory is bounded: the least recently used entry is forgotten', async () => {
  const attempts = limitLogins({ attempts: 1, maxKeys: 2 });
  const allows = async (name: string, address: string) => (await attempts.begin(name, address)).ok;
  expect([await allows('ann', 'a'), await allows('ann', 'a')]).toEqual([true, false]);
  expect([await allows('bob', 'b'), await allows('cat', 'c')]).toEqual([true, true]);
  expect(await allows('cat', 'c')).toBe(false);
  expect(await allows('ann', 'a')).toBe(true);
});
