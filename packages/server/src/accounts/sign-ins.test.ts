import { describe, expect, test } from 'bun:test';
import type { SignInSecret } from '../http/sign-in-cookie.ts';
import { openMemoryStore } from '../testing/stores/memory/store.ts';
import { type NewSignIn, openSignIns } from './sign-ins.ts';
import type { StoredUser } from './store.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const quiet = () => undefined;
const ENDED = { name: 'Fault', code: 'unauthenticated' };
const LOST = new Error('the disk is full');

/** Two nodes on one store; the second caches what it has read. */
async function opened() {
  const store = openMemoryStore();
  const clock = { now: 1_800_000_000_000, full: false };
  const warned: string[] = [];
  const log = {
    debug: quiet,
    info: quiet,
    warn: (_: object, text: string) => void warned.push(text),
    error: quiet,
  };
  const signIns = {
    ...store.signIns,
    markSeen: (id: string, hash: string) =>
      clock.full ? Promise.reject(LOST) : store.signIns.markSeen(id, hash),
  };
  const nodes = [false, true].map((keeps) =>
    openSignIns({ signIns, users: store, mayKeep: () => keeps, now: () => clock.now, log }),
  );
  const [node, other] = nodes as [(typeof nodes)[0], (typeof nodes)[0]];
  store.revocations.follow(() => other.changed());
  await store.put({ name: 'ada', role: 'user', passwordHash: 'hash', createdAt: 1 });
  const user = (await store.find('ada')) as StoredUser;
  return { store, clock, warned, node, other, user, made: await node.create(user) };
}

const textOf = ({ id, key }: NewSignIn, { secret }: Pick<SignInSecret, 'secret'>) =>
  `pls_${id}_${secret}_${key}`;

test('cookie and key together are the user, on every node', async () => {
  const { node, other, made } = await opened();
  for (const one of [node, other, other]) {
    expect(await one.read(textOf(made, made))).toMatchObject({ id: made.id, user: { name: 'ada' } });
    for (const text of [
      textOf(made, { secret: made.key }),
      textOf({ ...made, key: made.secret }, made),
      textOf({ ...made, id: made.key }, made),
      `pls_${made.id}_${made.secret}`,
      'pls_',
    ])
      await expect(one.read(text)).rejects.toMatchObject(ENDED);
  }
});

test('only hashes are stored', async () => {
  const { store, made } = await opened();
  const stored = JSON.stringify(await store.signIns.find(made.id));
  expect(stored).toContain(made.id);
  expect([stored.includes(made.secret), stored.includes(made.key)]).toEqual([false, false]);
});

test('the secret is replaced when it is old, and the sign-in is prolonged', async () => {
  const { node, other, clock, made } = await opened();
  clock.now += HOUR - 1;
  expect(await node.refresh(textOf(made, made))).toBeNull();
  clock.now += 1;
  const next = await node.refresh(textOf(made, made));
  expect(next).toMatchObject({ id: made.id, expiresAt: clock.now + 30 * DAY });
  if (!next) throw new Error('it was not replaced');
  expect(next.secret).not.toBe(made.secret);
  for (const one of [node, other]) expect((await one.read(textOf(made, next))).user.name).toBe('ada');
  // Requests of other tabs were under way.
  for (const one of [node, other]) expect((await one.read(textOf(made, made))).user.name).toBe('ada');
  expect(await node.refresh(textOf(made, made))).toBeNull();
});

test('of two refreshes at once, one replaces the secret', async () => {
  const { node, other, clock, made } = await opened();
  clock.now += HOUR;
  const answers = await Promise.all([node, other, node].map((one) => one.refresh(textOf(made, made))));
  expect(answers.filter((answer) => answer !== null)).toHaveLength(1);
});

test('a cookie that comes back after its successor was used ends the sign-in for both', async () => {
  const { node, other, clock, warned, made } = await opened();
  clock.now += HOUR;
  const next = await node.refresh(textOf(made, made));
  if (!next) throw new Error('it was not replaced');
  await other.read(textOf(made, next));
  clock.now += MINUTE + 1;
  await expect(node.read(textOf(made, made))).rejects.toMatchObject(ENDED);
  for (const one of [node, other]) await expect(one.read(textOf(made, next))).rejects.toMatchObject(ENDED);
  expect(warned).toEqual(['ended a sign-in whose cookie was used twice']);
});

test('if the answer with the new cookie is lost, the old one is still valid, and is replaced again', async () => {
  const { node, other, clock, made } = await opened();
  clock.now += HOUR;
  const lost = await node.refresh(textOf(made, made));
  if (!lost) throw new Error('it was not replaced');
  clock.now += DAY;
  expect((await other.read(textOf(made, made))).user.name).toBe('ada');
  const next = await other.refresh(textOf(made, made));
  if (!next) throw new Error('it was not replaced');
  expect((await node.read(textOf(made, next))).user.name).toBe('ada');
  // Whoever took the answer has nothing.
  await expect(node.read(textOf(made, lost))).rejects.toMatchObject(ENDED);
});

test('a sign-in ends if it is not used for 30 days, and after 180 days in any case', async () => {
  const { node, other, clock, user, made } = await opened();
  clock.now += 30 * DAY - 1;
  await node.read(textOf(made, made));
  clock.now += 1;
  for (const one of [node, other]) await expect(one.read(textOf(made, made))).rejects.toMatchObject(ENDED);

  const busy = await node.create(user);
  let secret: Pick<SignInSecret, 'secret'> = busy;
  for (let days = 0; days < 180; days += 20) {
    clock.now += 20 * DAY - 1_000;
    secret = (await node.refresh(textOf(busy, secret))) ?? secret;
    await node.read(textOf(busy, secret));
  }
  clock.now += 10_000;
  await expect(node.read(textOf(busy, secret))).rejects.toMatchObject(ENDED);
  await expect(node.refresh(textOf(busy, secret))).rejects.toMatchObject(ENDED);
});

describe('a sign-in ends on every node', () => {
  test.each([
    ['when it is ended', async ({ node, made }: Awaited<ReturnType<typeof opened>>) => node.end(made.id)],
    [
      'when its user is changed',
      async ({ store, user }: Awaited<ReturnType<typeof opened>>) => store.put(user),
    ],
    [
      'when its user is removed',
      async ({ store }: Awaited<ReturnType<typeof opened>>) => store.remove('ada'),
    ],
  ])('%s', async (_, change) => {
    const all = await opened();
    const { node, other, made } = all;
    for (const one of [node, other]) {
      await one.read(textOf(made, made));
      expect((await one.claims(made.id)).name).toBe('ada');
    }
    await change(all);
    for (const one of [node, other]) {
      await expect(one.read(textOf(made, made))).rejects.toMatchObject(ENDED);
      await expect(one.claims(made.id)).rejects.toMatchObject(ENDED);
      await expect(one.refresh(textOf(made, made))).rejects.toMatchObject(ENDED);
    }
  });
});

test('requests are answered while the use of a cookie cannot be stored', async () => {
  const { node, clock, made } = await opened();
  clock.full = true;
  expect((await node.read(textOf(made, made))).user.name).toBe('ada');
});
