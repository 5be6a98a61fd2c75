import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { runParlance } from '../../packages/cli/src/testing/run-parlance.ts';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { bearer, endOf, openAll } from './live.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const post = (path: string, token: string, body?: object) =>
  fetch(server.http + path, {
    method: 'POST',
    headers: { ...bearer(token), 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
  });

/** Like an operator: from another process, while the server runs. */
async function parlanceUser(...args: string[]): Promise<void> {
  const { code, stderr } = await runParlance(['user', ...args, '--data', server.data], { cwd: server.root });
  expect([code, stderr]).toEqual([0, '']);
}

const logOut = (path: string) => async (_name: string, token: string) =>
  expect((await post(path, token)).status).toBe(204);

type Way = {
  readonly change: (name: string, token: string) => Promise<unknown>;
  /** one token, or all tokens of the user */
  readonly ends: 'one' | 'all';
  /** the user's password afterwards; null if the user was removed */
  readonly password: string | null;
};

const WAYS: Record<string, Way> = {
  'log-out': { change: logOut('/v1/auth/logout'), ends: 'one', password: 'first-one' },
  'log-out of the copilot': { change: logOut('/api/v1/auth/logout'), ends: 'one', password: 'first-one' },
  'a new password': {
    change: (name) => parlanceUser('password', name, '--password', 'second-one'),
    ends: 'all',
    password: 'second-one',
  },
  'the same password, set again': {
    change: (name) => parlanceUser('password', name, '--password', 'first-one'),
    ends: 'all',
    password: 'first-one',
  },
  'another role': {
    change: (name) => parlanceUser('role', name, '--role', 'admin'),
    ends: 'all',
    password: 'first-one',
  },
  'parlance user logout': {
    change: (name) => parlanceUser('logout', name),
    ends: 'all',
    password: 'first-one',
  },
  'removal of the user': { change: (name) => parlanceUser('remove', name), ends: 'all', password: null },
  'removal, and another user of that name': {
    change: async (name) => {
      await parlanceUser('remove', name);
      await parlanceUser('add', name, '--password', 'other-one');
    },
    ends: 'all',
    password: 'other-one',
  },
};

describe('connections of a token end with', () => {
  let count = 0;
  for (const [way, { change, ends, password }] of Object.entries(WAYS))
    test(way, async () => {
      const name = `user${++count}`;
      await parlanceUser('add', name, '--password', 'first-one', '--role', 'developer');
      const [token, second] = [await server.login(name, 'first-one'), await server.login(name, 'first-one')];
      const lost = await openAll(server, name, token);
      const others = await openAll(server, name, second);
      const strangers = await openAll(server, 'uma', await server.login('uma', 'uma-password'));

      await change(name, token);

      await expectRefused(token);
      const reason = 'The token was revoked.';
      for (const { kind, ended } of lost) expect([kind, await ended]).toEqual([kind, endOf(kind, reason)]);
      for (const { kind, ended, alive } of others) {
        if (ends === 'one') await alive();
        else expect([kind, await ended]).toEqual([kind, endOf(kind, reason)]);
      }
      if (ends === 'all') await expectRefused(second);
      for (const { alive } of strangers) await alive();
      if (password === null) return;
      // most likely in the same second
      const renewed = await server.login(name, password);
      expect((await fetch(`${server.http}/v1/auth/me`, { headers: bearer(renewed) })).status).toBe(200);
    });
});

/** Checks every endpoint, concurrently. */
async function expectRefused(token: string): Promise<void> {
  const headers = bearer(token);
  const status = async (path: string, more: Record<string, string> = {}) =>
    (await fetch(server.http + path, { headers: { ...headers, ...more } })).status;
  expect(await status('/v1/auth/me')).toBe(401);
  expect(await status('/v1/sessions')).toBe(401);
  expect(await status('/v1/sessions/x/events', { accept: 'text/event-stream' })).toBe(401);
  expect(await status('/api/v1/auth/session')).toBe(401);
  expect((await post('/v1/auth/logout', token)).status).toBe(401);
  expect((await post('/api/pusher/auth', token, { socket_id: '1.2', channel_name: 'x' })).status).toBe(401);
  for (const path of ['/ws', '/extension', '/broadcast', '/agentloop', '/']) {
    const client = await server.connect(`${path}?token=${token}`);
    expect([path, await client.closed]).toEqual([path, { code: 1008, reason: 'Invalid token' }]);
  }
}

test('frames after a log-out on the same socket have no effect', async () => {
  const token = await server.login('dev', 'dev-password');
  const client = await server.connect(`/ws?token=${token}`);
  client.send({ type: 'PING' });
  await client.next('PONG');
  const out = post('/v1/auth/logout', token);
  const spoken = (n: number) => ({
    type: 'send_message',
    conversationId: `temp-${n}`,
    payload: { content: `message ${n}` },
  });
  expect((await out).status).toBe(204);
  for (let n = 0; n < 100; n++) client.send(spoken(n));
  expect((await client.closed).code).toBe(1008);
  const again = await server.login('dev', 'dev-password');
  const sessions = await fetch(`${server.http}/v1/sessions`, { headers: bearer(again) });
  expect(await sessions.json()).toMatchObject({ sessions: [] });
});

test('a log-out without a token, or with an invalid one, is refused in each dialect', async () => {
  for (const path of ['/v1/auth/logout', '/api/v1/auth/logout']) {
    expect((await fetch(server.http + path, { method: 'POST' })).status).toBe(401);
    expect((await post(path, 'made-up')).status).toBe(401);
  }
});
