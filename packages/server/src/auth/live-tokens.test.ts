import { expect, test } from 'bun:test';
import { Fault } from '@parlance/protocol';
import { watchTokens } from './live-tokens.ts';
import type { TokenClaims } from './tokens.ts';

const soon = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Tokens are named by their id; those in `bad` are refused. */
function watching({ goodUntil = Number.MAX_SAFE_INTEGER, clock = Date.now } = {}) {
  const bad = new Set<string>();
  const logged: string[] = [];
  const quiet = () => undefined;
  const broken = { disk: false };
  const live = watchTokens({
    read: async (token): Promise<TokenClaims> => {
      if (token === 'expired') throw new Fault('unauthenticated', 'no');
      return { id: token, name: 'ann', tokenVersion: '1', goodUntil };
    },
    isGood: async ({ id }) => {
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

test('all who live on a token are told once when it is revoked, and no one else', async () => {
  const { live, bad, told, onTokenRevoked } = watching();
  onTokenRevoked('one', 'first');
  onTokenRevoked('one', 'second');
  onTokenRevoked('other');
  await soon();
  bad.add('one');
  live.revoked('one');
  live.revoked('one');
  live.lookAgain();
  await soon();
  expect(told).toEqual(['first: The token was revoked.', 'second: The token was revoked.']);
});

test('a change that another process made is seen at the next look', async () => {
  const { live, bad, told, onTokenRevoked } = watching();
  onTokenRevoked('one');
  await soon();
  bad.add('one');
  await soon();
  expect(told).toEqual([]);
  live.lookAgain();
  await soon();
  expect(told).toEqual(['one: The token was revoked.']);
});

test('a change that comes while many are looked at is not missed', async () => {
  const { live, bad, told, onTokenRevoked } = watching();
  for (let n = 0; n < 1_000; n++) onTokenRevoked(`token ${n}`);
  await soon();
  bad.add('token 999');
  live.lookAgain();
  await soon();
  // the first have been looked at by now, the last have not
  bad.add('token 0');
  live.lookAgain();
  while (told.length < 2) await soon();
  expect(told).toEqual(['token 999: The token was revoked.', 'token 0: The token was revoked.']);
});

test('a token that was revoked between the request and the watch is told at once', async () => {
  const { bad, told, onTokenRevoked } = watching();
  bad.add('one');
  onTokenRevoked('one');
  onTokenRevoked('expired');
  await soon();
  expect(told.sort()).toEqual(['expired: The token has expired.', 'one: The token was revoked.']);
});

test('who has stopped watching is not told', async () => {
  const { live, bad, told, onTokenRevoked } = watching();
  const end = onTokenRevoked('one', 'first');
  onTokenRevoked('one', 'second');
  await soon();
  end();
  end();
  bad.add('one');
  live.lookAgain();
  await soon();
  expect(told).toEqual(['second: The token was revoked.']);
});

test('a token expires by itself', async () => {
  const { live } = watching({ goodUntil: Date.now() + 20 });
  const { promise, resolve } = Promise.withResolvers<string>();
  live.onTokenRevoked('one', resolve);
  expect(await promise).toBe('The token has expired.');
});

test('a token whose time is over by a jump of the clock ends, and one that is still good stays', async () => {
  let now = Date.now();
  const hour = 3_600_000;
  const clock = () => now;
  const [short, long] = [
    watching({ goodUntil: now + hour, clock }),
    watching({ goodUntil: now + 9 * hour, clock }),
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

test('one who fails when told does not keep the others from being told', async () => {
  const { live, logged, told, onTokenRevoked } = watching();
  live.onTokenRevoked('one', () => {
    throw new Error('a bug');
  });
  onTokenRevoked('one');
  await soon();
  live.revoked('one');
  expect([told.length, logged.length]).toEqual([1, 1]);
});

test('where it cannot be looked, nobody is let go, and it is logged', async () => {
  const { live, bad, broken, logged, told, onTokenRevoked } = watching();
  onTokenRevoked('one');
  await soon();
  broken.disk = true;
  live.lookAgain();
  await soon();
  expect([told, logged]).toEqual([[], ['a token could not be looked at again']]);
  broken.disk = false;
  bad.add('one');
  live.lookAgain();
  await soon();
  expect(told.length).toBe(1);
});
