/** Contract tests for counters of login attempts. */
import { expect, test } from 'bun:test';
import type { LoginAttempts, LoginLimits } from '../../../accounts/store.ts';

type Try = readonly [name: string | null, address: string];

/** Number of admitted attempts, made sequentially. */
async function admitted(attempts: LoginAttempts, tries: readonly Try[]): Promise<number> {
  let count = 0;
  for (const [name, address] of tries) if ((await attempts.begin(name, address)).ok) count++;
  return count;
}
const times = (count: number, make: (n: number) => Try) => Array.from({ length: count }, (_, n) => make(n));

/** `open` creates a fresh counter each time. */
export function loginAttemptsContract(open: (limits: LoginLimits) => Promise<LoginAttempts>): void {
  const allows = async (attempts: LoginAttempts, ...given: Try) => (await attempts.begin(...given)).ok;

  test('guessing one password is stopped, without affecting other addresses or names', async () => {
    const attempts = await open({ attempts: 3 });
    expect(
      await admitted(
        attempts,
        times(20, () => ['ann', 'evil']),
      ),
    ).toBe(3);
    expect(await attempts.begin('ann', 'home')).toEqual({ ok: true });
    expect(await attempts.begin('bob', 'evil')).toEqual({ ok: true });
  });

  test('concurrent attempts are counted', async () => {
    const attempts = await open({ attempts: 3 });
    const tried = await Promise.all(
      times(20, () => ['ann', 'evil']).map((given) => allows(attempts, ...given)),
    );
    expect(tried.filter((ok) => ok).length).toBeWithin(1, 4);
    expect(
      await admitted(
        attempts,
        times(3, () => ['ann', 'evil']),
      ),
    ).toBeLessThan(3);
  });

  test('a refused attempt gets a retry time', async () => {
    const attempts = await open({ attempts: 1, windowSeconds: 900 });
    await attempts.begin('ann', 'evil');
    const refused = await attempts.begin('ann', 'evil');
    expect(refused.ok ? 0 : refused.retryAfterMs).toBeWithin(1, 900_001);
  });

  test('trying many names from one address is stopped, whether the names are valid or not', async () => {
    const attempts = await open({ attempts: 3 });
    expect(
      await admitted(
        attempts,
        times(100, (n) => [`user${n}`, 'evil']),
      ),
    ).toBe(30);
    expect(await allows(attempts, null, 'evil')).toBe(false);
    expect(await allows(attempts, 'ann', 'home')).toBe(true);
  });

  test('distributed guessing is stopped, but the user can log in from a known address', async () => {
    const attempts = await open({ attempts: 3 });
    expect(await allows(attempts, 'ann', 'home')).toBe(true);
    await attempts.succeeded('ann', 'home');
    expect(
      await admitted(
        attempts,
        times(100, (n) => ['ann', `evil${n}`]),
      ),
    ).toBe(30);
    expect(await allows(attempts, 'ann', 'new')).toBe(false);
    expect(await allows(attempts, 'ann', 'home')).toBe(true);
    await attempts.succeeded('ann', 'home');
    expect(await allows(attempts, 'ann', 'new')).toBe(true);
  });

  test('a success resets the failures of the name at that address, but not those of the whole address', async () => {
    const attempts = await open({ attempts: 3 });
    const failures = times(2, () => ['ann', 'home']);
    for (let round = 0; round < 9; round++) {
      expect(await admitted(attempts, failures)).toBe(2);
      expect(await allows(attempts, 'ann', 'home')).toBe(true);
      await attempts.succeeded('ann', 'home');
    }
    // failures used 18 of the address's 30 attempts, successes none
    expect(
      await admitted(
        attempts,
        times(100, (n) => [`user${n}`, 'home']),
      ),
    ).toBe(12);
  });

  test('unusual names and addresses are counted separately', async () => {
    const attempts = await open({ attempts: 1 });
    for (const [name, address] of [
      ['a b', 'c'],
      ['a', 'b c'],
      ["it's", '\0'],
      ['%', '_'],
    ] as const)
      expect([await allows(attempts, name, address), await allows(attempts, name, address)]).toEqual([
        true,
        false,
      ]);
  });
}
