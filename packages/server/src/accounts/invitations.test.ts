import { expect, test } from 'bun:test';
import type { Role } from '@parlance/protocol';
import { openMemoryStore } from '../testing/stores/memory/store.ts';
import { openInvitations } from './invitations.ts';
import { verifyPassword } from './passwords.ts';

const DAY = 24 * 3_600_000;
const quiet = () => undefined;
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const GONE = { name: 'Fault', code: 'not_found' };
const wanted = { name: 'grace', role: 'developer' } as const;

async function opened() {
  const store = openMemoryStore();
  const clock = { now: 1_800_000_000_000 };
  const setRole = (role: Role) => store.put({ name: 'ada', role, passwordHash: 'hash', createdAt: 1 });
  await setRole('admin');
  const invitations = openInvitations({
    invitations: store.invitations,
    users: store,
    log,
    now: () => clock.now,
  });
  return { store, clock, setRole, invitations };
}

test('an invitation adds its user once, with the password of the person and the role of the admin', async () => {
  const { store, invitations } = await opened();
  const { token, ...made } = await invitations.add('ada', wanted);
  expect(made).toMatchObject({ ...wanted, createdBy: 'ada', expiresAt: made.createdAt + 7 * DAY });
  expect(JSON.stringify(await store.invitations.list())).not.toContain(token);
  expect(await invitations.find(token)).toEqual(made);
  await expect(invitations.accept(token, 'short')).rejects.toMatchObject({ code: 'invalid' });
  expect(await invitations.accept(token, 'a password')).toEqual(made);
  const user = await store.find('grace');
  expect(user?.role).toBe('developer');
  expect(await verifyPassword('a password', user?.passwordHash ?? null)).toBe(true);
  await expect(invitations.accept(token, 'another password')).rejects.toMatchObject(GONE);
  await expect(invitations.find(token)).rejects.toMatchObject(GONE);
  expect(await invitations.list()).toEqual([]);
});

test('an invitation ends when it expires, is revoked or replaced, and when its admin is no longer one', async () => {
  const { clock, setRole, invitations } = await opened();
  const expired = await invitations.add('ada', { ...wanted, days: 1 });
  clock.now += DAY;
  expect(await invitations.list()).toEqual([]);
  await expect(invitations.find(expired.token)).rejects.toMatchObject(GONE);

  const replaced = await invitations.add('ada', wanted);
  const made = await invitations.add('ada', wanted);
  await expect(invitations.accept(replaced.token, 'a password')).rejects.toMatchObject(GONE);
  for (const token of [`${made.token.slice(0, -1)}!`, made.id, '', made.token.replace('pli_', 'plk_')])
    await expect(invitations.find(token)).rejects.toMatchObject(GONE);
  await setRole('developer');
  await expect(invitations.accept(made.token, 'a password')).rejects.toMatchObject(GONE);
  await setRole('admin');
  expect((await invitations.find(made.token)).id).toBe(made.id);
  await invitations.revoke(made.id);
  await expect(invitations.find(made.token)).rejects.toMatchObject(GONE);
  await expect(invitations.revoke(made.id)).rejects.toMatchObject(GONE);
});

test('nobody is invited under a name that is taken, reserved or invalid, also if it is taken later', async () => {
  const { store, invitations } = await opened();
  for (const name of ['ada', 'local', 'a b'])
    await expect(invitations.add('ada', { name, role: 'user' })).rejects.toMatchObject({ code: 'invalid' });
  const { token } = await invitations.add('ada', wanted);
  await store.put({ name: 'grace', role: 'user', passwordHash: 'hers', createdAt: 1 });
  await expect(invitations.accept(token, 'a password')).rejects.toMatchObject({ code: 'invalid' });
  expect((await store.find('grace'))?.passwordHash).toBe('hers');
});
