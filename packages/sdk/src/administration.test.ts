import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startTestServer, type TestServer } from '../../server/src/testing/server.ts';
import { connect, type Parlance } from './connect.ts';

let server: TestServer;
let ada: Parlance;
beforeAll(async () => {
  server = await startTestServer({ PARLANCE_AUTH: 'required' });
  ada = await loggedIn('ada');
});
afterAll(() => server.stop());

async function loggedIn(name: string, password = `${name}-password`): Promise<Parlance> {
  const parlance = connect({ url: server.http });
  await parlance.auth.login(name, password);
  return parlance;
}

test('an admin adds, changes, logs out and removes users', async () => {
  const { users } = ada.admin;
  expect(await users.add({ name: 'a@b', password: 'first-one', role: 'user' })).toMatchObject({
    name: 'a@b',
    role: 'user',
    fromSettings: false,
  });
  expect((await users.list()).map(({ name }) => name)).toEqual(['a@b', 'ada', 'dev', 'uma']);
  const theirs = await loggedIn('a@b', 'first-one');
  await users.logout('a@b');
  await expect(theirs.sessions.list()).rejects.toMatchObject({ code: 'unauthenticated' });
  expect(await users.change('a@b', { role: 'developer', password: 'second-one' })).toMatchObject({
    role: 'developer',
  });
  expect((await (await loggedIn('a@b', 'second-one')).auth.me()).role).toBe('developer');
  await users.remove('a@b');
  await expect(users.remove('a@b')).rejects.toMatchObject({ code: 'not_found' });
  await expect(users.remove('ada')).rejects.toMatchObject({ code: 'forbidden' });
});

test('refuses callers who are not admins', async () => {
  const dev = await loggedIn('dev');
  await expect(dev.admin.users.list()).rejects.toMatchObject({ code: 'forbidden', status: 403 });
});

test('lists the nodes for admins', async () => {
  expect(await ada.admin.nodes()).toMatchObject([{ here: true, alive: true, bus: 'none', leaseAgeMs: null }]);
  await expect((await loggedIn('dev')).admin.nodes()).rejects.toMatchObject({ code: 'forbidden' });
});

test('lists listeners, MCP servers and metrics for callers with the permission', async () => {
  const dev = await loggedIn('dev');
  const socket = await server.connect(`/agentloop?token=${dev.token}`);
  expect(await dev.admin.listeners()).toEqual([
    {
      address: '127.0.0.1',
      port: server.running.port,
      dialect: 'all',
      sockets: { agentloop: 1 },
      problem: null,
    },
  ]);
  socket.close();
  expect(await dev.admin.mcp()).toEqual([]);
  expect(await dev.admin.metrics()).toContain('parlance_turns_total{outcome="ended"} 0');
  const uma = await loggedIn('uma');
  await expect(uma.admin.metrics()).rejects.toMatchObject({ code: 'forbidden' });
});

test('changes the password and continues with the new token', async () => {
  const uma = await loggedIn('uma');
  const before = uma.token;
  await expect(uma.auth.changePassword('a guess', 'better-one')).rejects.toMatchObject({ code: 'forbidden' });
  expect(uma.token).toBe(before);
  await uma.auth.changePassword('uma-password', 'better-one');
  expect(uma.token).not.toBe(before);
  expect((await uma.auth.me()).id).toBe('uma');
});

test('lists and revokes standing grants of all sessions', async () => {
  const dev = await loggedIn('dev');
  const session = dev.session('granting');
  await session.submit('run touch a');
  const stop = new AbortController();
  for await (const event of session.events({ signal: stop.signal })) {
    if (event.type === 'approval.requested') await dev.approvals.answer(event.approval, { answer: 'always' });
    if (event.type === 'turn.ended') stop.abort();
  }
  const [standing, ...others] = await dev.grants.list();
  expect(others).toEqual([]);
  expect(standing).toMatchObject({ session: 'granting', owner: 'dev', title: 'run touch a' });
  await session.revoke(standing?.grant ?? '');
  expect(await dev.grants.list()).toEqual([]);
});

test('a user makes, lists and revokes API keys, and a client with one is that user', async () => {
  const dev = await loggedIn('dev');
  const made = await dev.keys.add({ name: 'scripts', role: 'user', expiresAt: '2999-01-01T00:00:00Z' });
  const client = connect({ url: server.http, token: made.key });
  expect((await client.server()).principal).toMatchObject({ id: 'dev', role: 'user' });
  const { key: _, ...shown } = made;
  const [listed, ...others] = await dev.keys.list();
  expect([{ ...listed, lastUsedAt: null }, ...others]).toEqual([shown]);
  await expect(client.keys.list()).rejects.toMatchObject({ code: 'forbidden' });
  await expect(dev.admin.keys()).rejects.toMatchObject({ code: 'forbidden' });
  expect((await ada.admin.keys()).map(({ id, owner }) => [id, owner])).toEqual([[made.id, 'dev']]);
  await ada.keys.revoke(made.id);
  await expect(client.server()).rejects.toMatchObject({ code: 'unauthenticated' });
  await expect(dev.keys.revoke(made.id)).rejects.toMatchObject({ code: 'not_found' });
});

// Pairing through the SDK: the extension on one side, a person on the other.

const origin = `chrome-extension://${'a'.repeat(32)}`;
/** Requests as the browser sends them for an extension. */
const fromExtension = (url: string, init: RequestInit) =>
  fetch(url, { ...init, headers: { ...init.headers, origin } });

test('an extension asks, a person allows it, and it works until it is revoked', async () => {
  const server = await startTestServer();
  const person = connect({ url: server.http });
  const extension = connect({ url: server.http, fetch: fromExtension });
  const { code, token } = await extension.pairings.request('My browser');
  extension.token = token;
  expect(await extension.pairings.own()).toMatchObject({ status: 'waiting' });
  await expect(extension.server()).rejects.toMatchObject({ code: 'forbidden' });
  expect((await person.pairings.list()).waiting).toMatchObject([{ code, name: 'My browser', origin }]);
  expect(await person.pairings.find(code)).toMatchObject({ name: 'My browser' });
  const { id } = await person.pairings.allow(code);
  expect(await extension.pairings.own()).toEqual({ status: 'allowed', owner: 'local' });
  expect((await extension.server()).principal.id).toBe('local' as never);
  await person.pairings.revoke(id);
  await expect(extension.pairings.own()).rejects.toMatchObject({ code: 'not_found' });

  const other = await extension.pairings.request('Again');
  await person.pairings.deny(other.code);
  await expect(person.pairings.find(other.code)).rejects.toMatchObject({ code: 'not_found' });
  const last = await extension.pairings.request('Once more');
  extension.token = last.token;
  await person.pairings.allow(last.code);
  await extension.pairings.end();
  expect((await person.pairings.list()).pairings).toEqual([]);
  await server.stop();
});
