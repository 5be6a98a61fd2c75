import { expect, test } from 'bun:test';
import { openKeyTest } from '../testing/accounts/keys.ts';

/** Resolves with the reason. */
function watched({ authenticator }: Awaited<ReturnType<typeof openKeyTest>>, key: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  void authenticator.verify(key).then((granted) => authenticator.onTokenRevoked(key, resolve, granted));
  return promise;
}

const settled = async () => {
  for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve));
};

test('connections of a key end when the key is revoked, and no others do', async () => {
  const place = await openKeyTest();
  const [one, other] = [await place.make(), await place.make()];
  const ends: string[] = [];
  void watched(place, other.key).then((reason) => ends.push(reason));
  const ended = watched(place, one.key);
  await settled();
  await place.keys.revoke(one.id);
  expect(await ended).toBe('The API key was revoked.');
  await settled();
  expect(ends).toEqual([]);
});

test('they end when the owner is removed, and when the owner’s role changes what the key grants', async () => {
  const place = await openKeyTest({ ada: 'admin', bob: 'admin' });
  const [admin, low, gone] = [
    await place.make('ada'),
    await place.make('ada', { role: 'user' }),
    await place.make('bob'),
  ];
  const lowEnds: string[] = [];
  void watched(place, low.key).then((reason) => lowEnds.push(reason));
  const [adminEnded, goneEnded] = [watched(place, admin.key), watched(place, gone.key)];
  await settled();
  await place.setRole('ada', 'developer');
  await place.store.remove('bob');
  expect([await adminEnded, await goneEnded]).toEqual([
    'The API key was revoked.',
    'The API key was revoked.',
  ]);
  await settled();
  expect(lowEnds).toEqual([]);
});

test('a watch that starts after the role has changed ends immediately', async () => {
  const place = await openKeyTest({ ada: 'admin' });
  const { key } = await place.make();
  const granted = await place.authenticator.verify(key);
  await place.setRole('ada', 'user');
  await place.authenticator.verify(key);
  const { promise, resolve } = Promise.withResolvers<string>();
  place.authenticator.onTokenRevoked(key, resolve, granted);
  expect(await promise).toBe('The API key was revoked.');
});

test('they end when the key expires', async () => {
  const place = await openKeyTest();
  const { key } = await place.make('ada', { expiresAt: place.clock.now + 3_600_000 });
  const ended = watched(place, key);
  await settled();
  place.clock.now += 3_600_000;
  expect(await ended).toBe('The API key has expired.');
});
