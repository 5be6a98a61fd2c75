import { afterEach, expect, setSystemTime, test } from 'bun:test';
import { type LoginAttempts, limitLogins } from './login-limit.ts';

afterEach(() => setSystemTime());

/** Number of admitted attempts. */
function admitted(attempts: LoginAttempts, tries: Iterable<[name: string, address: string]>): number {
  let count = 0;
  for (const [name, address] of tries) if (attempts.begin(name, address).ok) count++;
  return count;
}
const times = (count: number, make: (n: number) => [string, string]) =>
  Array.from({ length: count }, (_, n) => make(n));

test('guessing one password is stopped, without affecting other addresses or names', () => {
  const attempts = limitLogins({ attempts: 3 });
  const guesses = times(20, () => ['ann', 'evil']);
  expect(admitted(attempts, guesses)).toBe(3);
  expect(attempts.begin('ann', 'home')).toEqual({ ok: true });
  expect(attempts.begin('bob', 'evil')).toEqual({ ok: true });
});

test('trying many names from one address is stopped, whether the names are valid or not', () => {
  const attempts = limitLogins({ attempts: 3 });
  const guesses = times(100, (n) => [`user${n}`, 'evil']);
  expect(admitted(attempts, guesses)).toBe(30);
  expect(attempts.begin(null, 'evil').ok).toBe(false);
  expect(attempts.begin('ann', 'home').ok).toBe(true);
});

test('distributed guessing is stopped, but the user can log in from a known address', () => {
  const attempts = limitLogins({ attempts: 3 });
  expect(attempts.begin('ann', 'home').ok).toBe(true);
  attempts.succeeded('ann', 'home');
  const guesses = times(100, (n) => ['ann', `evil${n}`]);
  expect(admitted(attempts, guesses)).toBe(30);
  expect(attempts.begin('ann', 'new').ok).toBe(false);
  expect(attempts.begin('ann', 'home').ok).toBe(true);
  attempts.succeeded('ann', 'home');
  expect(attempts.begin('ann', 'new').ok).toBe(true);
});

test('a success resets the failures of the name at that address, but not those of the address', () => {
  const attempts = limitLogins({ attempts: 3 });
  const failures = times(2, () => ['ann', 'home']);
  for (let round = 0; round < 9; round++) {
    expect(admitted(attempts, failures)).toBe(2);
    expect(attempts.begin('ann', 'home').ok).toBe(true);
    attempts.succeeded('ann', 'home');
  }
  // 18 of the address's 30 attempts were used by failures, none by successes
  const guesses = times(100, (n) => [`user${n}`, 'home']);
  expect(admitted(attempts, guesses)).toBe(12);
});

test('the limit ends with its window, however many attempts were made meanwhile', () => {
  const attempts = limitLogins({ attempts: 3, windowSeconds: 900 });
  const start = Date.now();
  setSystemTime(new Date(start)); // the clock stands still from here on
  const guesses = times(10, () => ['ann', 'evil']);
  admitted(attempts, guesses);
  setSystemTime(new Date(start + 890_000));
  const refused = attempts.begin('ann', 'evil');
  expect(refused).toMatchObject({ ok: false });
  expect(refused.ok ? 0 : refused.retryAfterMs).toBeLessThanOrEqual(10_000);
  setSystemTime(new Date(start + 901_000));
  expect(attempts.begin('ann', 'evil').ok).toBe(true);
});

test('memory is bounded: the least recently used entry is forgotten', () => {
  const attempts = limitLogins({ attempts: 1, maxKeys: 2 });
  expect([attempts.begin('ann', 'a').ok, attempts.begin('ann', 'a').ok]).toEqual([true, false]);
  expect([attempts.begin('bob', 'b').ok, attempts.begin('cat', 'c').ok]).toEqual([true, true]);
  expect(attempts.begin('cat', 'c').ok).toBe(false);
  expect(attempts.begin('ann', 'a').ok).toBe(true);
});
