import { expect, test } from 'bun:test';
import { Fault } from '@parlance/protocol';
import { until } from '../testing/until.ts';
import { watchTokens } from './live-tokens.ts';
import type { TokenClaims } from './tokens.ts';

const soon = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Tokens are named by their id; ids in `bad` are refused. */
function watching({ validUntil = Number.MAX_SAFE_INTEGER, clock = Date.now } = {}) {
  const bad = new Set<string>();
  const logged: string[] = [];
  const quiet = () => undefined;
  const broken = { disk: false };
  const live = watchTokens({
    read: async (token): Promise<TokenClaims> => {
      if (token === 'expired') throw new Fault('unauthenticated', 'no');
      return { id: token, name: 'ann', tokenVersion: '1', validUntil };
    },
    isValid: async ({ id }) => {
      if (broken.disk) throw new Error('disk gone');
      return !bad.has(id);
    },
    now: clock,
    log: { debug: quiet, info: quiet, warn: quiet, error: (_, message) => void logged.push(message) },
  });
  const told: string[] = [];
  const onTokenRevoked = (token: string, as = token) =>
    live.onTokenRevoked(token, (reason) => void told.push(`${as}: ${reason}`));
  return { live, bad, told, logged, broken, onTokenRevoked };
}

test('a revocation notifies every listener of the token once, and no other listener', async () => {
  const { live, bad, told, onTokenRevoked } = watching();
  onTokenRevoked('one', 'first');
  onTokenRevoked('one', 'second');
  onTokenRevoked('other');
  await soon();
  bad.add('one');
  live.revoked('one');
  live.revoked('one');
  live.recheck();
  await soon();
  expect(told).toEqual(['first: The token was revoked.', 'second: The token was revoked.']);
});

test('a change by another process is noticed at the next check', async () => {
  const { live, bad, told, onTokenRevoked } = watching();
  onTokenRevoked('one');
  await soon();
  bad.add('one');
  await soon();
  expect(told).toEqual([]);
  live.recheck();
  await soon();
  expect(told).toEqual(['one: The token was revoked.']);
});

test('a change during a check is not missed', async () => {
  const { live, bad, told, onTokenRevoked } = watching();
  for (let n = 0; n < 1_000; n++) onTokenRevoked(`token ${n}`);
  await soon();
  bad.add('token 999');
  live.recheck();
  await soon();
  // the first tokens have been checked by now, the last have not
  bad.add('token 0');
  live.recheck();
  await until(() => told.length >= 2);
  expect(told).toEqual(['token 999: The token was revoked.', 'token 0: The token was revoked.']);
});

test('a token revoked between the request and the watch is reported immediately', async () => {
  const { bad, told, onTokenRevoked } = watching();
  bad.add('one');
  onTokenRevoked('one');
  onTokenRevoked('expired');
  await soon();
  expect(told.sort()).toEqual(['expired: The token has expired.', 'one: The token was revoked.']);
});

test('a removed listener is not notified', async () => {
  const { live, bad, told, onTokenRevoked } = watching();
  const end = onTokenRevoked('one', 'first');
  onTokenRevoked('one', 'second');
  await soon();
  end();
  end();
  bad.add('one');
  live.recheck();
  await soon();
  expect(told).toEqual(['second: The token was revoked.']);
});

test('a token expires without an event', async () => {
  const { live } = watching({ validUntil: Date.now() + 20 });
  const { promise, resolve } = Promise.withResolvers<string>();
  live.onTokenRevoked('one', resolve);
  expect(await promise).toBe('The token has expired.');
});

test('a clock jump ends expired tokens and leaves valid tokens', async () => {
  let now = Date.now();
  const hour = 3_600_000;
  const clock = () => now;
  const [short, long] = [
    watching({ validUntil: now + hour, clock }),
    watching({ validUntil: now + 9 * hour, clock }),
  ];
  const ended = Promise.withResolvers<string>();
  short.live.onTokenRevoked('one', ended.resolve);
  long.onTokenRevoked('two');
  await soon();
  now += 2 * hour;
  expect(await ended.promise).toBe('The token has expired.');
  await soon();
  expect(long.told).toEqual([]);
});

test('a listener that throws does not prevent the others from being notified', async () => {
  const { live, logged, told, onTokenRevoked } = watching();
  live.onTokenRevoked('one', () => {
    throw new Error('a bug');
  });
  onTokenRevoked('one');
  await soon();
  live.revoked('one');
  expect([told.length, logged.length]).toEqual([1, 1]);
});

test('if tokens cannot be checked, no connection is closed and the failure is logged', async () => {
  const { live, bad, broken, logged, told, onTokenRevoked } = watching();
  onTokenRevoked('one');
  await soon();
  broken.disk = true;
  live.recheck();
  await soon();
  expect([told, logged]).toEqual([[], ['token check failed']]);
  broken.disk = false;
  bad.add('one');
  live.recheck();
  await soon();
  expect(told.length).toBe(1);
});
