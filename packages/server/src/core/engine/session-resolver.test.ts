import { expect, test } from 'bun:test';
import { LOCAL, type Principal, PrincipalId, ROLE_PERMISSIONS, type Role } from '@parlance/protocol';
import { CALLER, createHarness, SESSION, say } from '../../testing/harness.ts';
import { calls } from '../../testing/scripted-provider.ts';

const principal = (name: string, role: Role): Principal => ({
  id: PrincipalId.parse(name),
  role,
  permissions: ROLE_PERMISSIONS[role],
});

test('archived sessions are not listed, but their pending approvals are', async () => {
  const { engine, nextEvent } = await createHarness([calls('shell', { command: ['ls'] })]);
  const asked = nextEvent('approval.requested');
  await say(engine, 'List them');
  const { approval } = await asked;
  await engine.send(SESSION, { type: 'session.archive' }, CALLER);
  expect((await engine.list(LOCAL, { limit: 5 })).sessions).toEqual([]);
  expect(await engine.count(LOCAL, {})).toBe(0);
  expect(await engine.count(LOCAL, { archived: 'only' })).toBe(1);
  expect((await engine.approvals(LOCAL, { limit: 10 })).waiting.map((now) => now.approval?.approval)).toEqual(
    [approval],
  );
  expect((await engine.record(SESSION))?.messageCount).toBe(2);
});

test('a session of another principal is foreign, except to admins and to principals with a session of that name', async () => {
  const { engine } = await createHarness([]);
  const [uma, ada] = [principal('uma', 'user'), principal('ada', 'admin')];
  const foreign = (who: Principal) => engine.foreign(who, SESSION.id);
  expect(await foreign(uma)).toBe(false);
  await say(engine, 'Mine');
  expect([await foreign(LOCAL), await foreign(uma), await foreign(ada)]).toEqual([false, true, false]);
  await engine.send(
    await engine.resolve(uma, SESSION.id),
    { type: 'session.create' },
    { ...CALLER, principal: uma },
  );
  expect(await foreign(uma)).toBe(false);
  expect(await engine.foreign(uma, 'no\nname')).toBe(false);
});

test('an admin gets the oldest session with the id', async () => {
  const { engine } = await createHarness([]);
  const [aaa, ada] = [principal('aaa', 'user'), principal('ada', 'admin')];
  await say(engine, 'Mine');
  await engine.send(
    { owner: aaa.id, id: SESSION.id },
    { type: 'session.create' },
    { ...CALLER, principal: aaa },
  );
  expect(await engine.resolve(ada, SESSION.id)).toEqual(SESSION);
});
