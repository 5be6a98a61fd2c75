import { afterEach, describe, expect, setSystemTime, test } from 'bun:test';
import { clientAddress } from '../http/client-address.ts';
import { type LoginAttempts, limitLogins } from './login-limit.ts';

afterEach(() => setSystemTime());

/** How many of the attempts were let in. */
async function admitted(attempts: LoginAttempts, tries: Iterable<[name: string, address: string]>) {
  let count = 0;
  for (const [name, address] of tries) if ((await attempts.begin(name, address)).ok) count++;
  return count;
}
const times = (count: number, make: (n: number) => [string, string]) =>
  Array.from({ length: count }, (_, n) => make(n));

test('one who guesses is stopped, and the same name from elsewhere is not', async () => {
  const attempts = limitLogins({ attempts: 3 });
  expect(
    await admitted(
      attempts,
      times(20, () => ['ann', 'evil']),
    ),
  ).toBe(3);
  expect(await attempts.begin('ann', 'home')).toEqual({ ok: true });
  expect(await attempts.begin('bob', 'evil')).toEqual({ ok: true });
});

test('attempts that arrive together are counted before any of them is looked at', async () => {
  const attempts = limitLogins({ attempts: 3 });
  const all = await Promise.all(
    times(50, () => ['ann', 'evil']).map(([name, from]) => attempts.begin(name, from)),
  );
  expect(all.filter(({ ok }) => ok).length).toBe(3);
});

test('one who tries many names is stopped, whether there could be such users or not', async () => {
  const attempts = limitLogins({ attempts: 3 });
  expect(
    await admitted(
      attempts,
      times(100, (n) => [`user${n}`, 'evil']),
    ),
  ).toBe(30);
  expect((await attempts.begin(null, 'evil')).ok).toBe(false);
  expect((await attempts.begin('ann', 'home')).ok).toBe(true);
});

test('many who guess one password together are stopped, but not the user where it is known', async () => {
  const attempts = limitLogins({ attempts: 3 });
  expect((await attempts.begin('ann', 'home')).ok).toBe(true);
  await attempts.succeeded('ann', 'home');
  expect(
    await admitted(
      attempts,
      times(100, (n) => ['ann', `evil${n}`]),
    ),
  ).toBe(30);
  expect((await attempts.begin('ann', 'new')).ok).toBe(false);
  expect((await attempts.begin('ann', 'home')).ok).toBe(true);
  await attempts.succeeded('ann', 'home');
  expect((await attempts.begin('ann', 'new')).ok).toBe(true);
});

test('a success forgets the failures of the name there, but not those of the address', async () => {
  const attempts = limitLogins({ attempts: 3 });
  for (let round = 0; round < 9; round++) {
    expect(
      await admitted(
        attempts,
        times(2, () => ['ann', 'home']),
      ),
    ).toBe(2);
    expect((await attempts.begin('ann', 'home')).ok).toBe(true);
    await attempts.succeeded('ann', 'home');
  }
  // 18 of the 30 that the address has were used by failures, none by successes
  expect(
    await admitted(
      attempts,
      times(100, (n) => [`user${n}`, 'home']),
    ),
  ).toBe(12);
});

test('it ends by itself after the window, however often one has tried meanwhile', async () => {
  const attempts = limitLogins({ attempts: 3, windowSeconds: 900 });
  const start = Date.now();
  setSystemTime(new Date(start)); // it stands still from here on
  await admitted(
    attempts,
    times(10, () => ['ann', 'evil']),
  );
  setSystemTime(new Date(start + 890_000));
  const refused = await attempts.begin('ann', 'evil');
  expect(refused).toMatchObject({ ok: false });
  expect(refused.ok ? 0 : refused.retryAfterMs).toBeLessThanOrEqual(10_000);
  setSystemTime(new Date(start + 901_000));
  expect((await attempts.begin('ann', 'evil')).ok).toBe(true);
});

test('what is remembered has an end: the one that was quiet longest is forgotten', async () => {
  const attempts = limitLogins({ attempts: 1, mostKeys: 2 });
  expect(
    await admitted(attempts, [
      ['ann', 'a'],
      ['ann', 'a'],
    ]),
  ).toBe(1);
  expect(
    await admitted(attempts, [
      ['bob', 'b'],
      ['cat', 'c'],
    ]),
  ).toBe(2);
  expect((await attempts.begin('cat', 'c')).ok).toBe(false);
  expect((await attempts.begin('ann', 'a')).ok).toBe(true);
});

describe('the address of a client', () => {
  const cases: [peer: string | undefined, forwarded: string | null, proxies: number, address: string][] = [
    ['192.0.2.1', null, 0, '192.0.2.1'],
    ['192.0.2.1', '198.51.100.7', 0, '192.0.2.1'],
    ['192.0.2.1', '198.51.100.7', 1, '198.51.100.7'],
    ['192.0.2.1', '1.1.1.1, 198.51.100.7', 1, '198.51.100.7'],
    ['192.0.2.1', '1.1.1.1, 198.51.100.7,10.0.0.1', 2, '198.51.100.7'],
    ['192.0.2.1', '198.51.100.7', 2, '192.0.2.1'],
    ['192.0.2.1', 'somebody', 1, '192.0.2.1'],
    ['192.0.2.1', '', 1, '192.0.2.1'],
    ['::ffff:192.0.2.1', null, 0, '192.0.2.1'],
    ['::1', null, 0, '0:0:0:0::/64'],
    ['2001:db8:0:5:aaaa::1', null, 0, '2001:db8:0:5::/64'],
    ['2001:0DB8::5:1:2:3:4', null, 0, '2001:db8:0:5::/64'],
    ['fe80::1%eth0', null, 0, 'fe80:0:0:0::/64'],
    [undefined, null, 0, 'unknown'],
  ];
  for (const [peer, forwarded, proxies, address] of cases)
    test(`${peer} with ${forwarded} behind ${proxies} is ${address}`, () => {
      const headers = new Headers(forwarded === null ? {} : { 'x-forwarded-for': forwarded });
      expect(clientAddress(headers, peer, proxies)).toBe(address);
    });
});
