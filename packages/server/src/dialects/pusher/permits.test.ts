import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { APPLICATION, RawPusher, signedCall } from '../../testing/pusher.ts';
import { startTestServer, type TestServer } from '../../testing/server.ts';
import { subscriptionAuth, userAuth } from './signature.ts';

const SOCKET = '1234.5678';

/** Sends a form like pusher-js. */
function ask(
  server: TestServer,
  fields: Record<string, string>,
  { token, path = 'auth' }: { token?: string; path?: string } = {},
) {
  return fetch(`${server.http}/api/pusher/${path}`, {
    method: 'POST',
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    body: new URLSearchParams(fields),
  });
}

const askFor = (server: TestServer, channel_name: string, token?: string) =>
  ask(server, { socket_id: SOCKET, channel_name }, { token });

async function makeSession(server: TestServer, id: string, token?: string): Promise<void> {
  const response = await fetch(`${server.http}/v1/sessions/${id}/commands`, {
    method: 'POST',
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    body: JSON.stringify({ type: 'session.create' }),
  });
  expect(response.status).toBe(200);
}

describe('if a token is required', () => {
  let server: TestServer;
  let uma: string;
  let dev: string;
  let ada: string;
  beforeAll(async () => {
    server = await startTestServer({ PARLANCE_AUTH: 'required', SOCKUDO_APP_SECRET: 'a secret of our own' });
    [uma, dev, ada] = (await Promise.all(
      ['uma', 'dev', 'ada'].map((name) => server.login(name, `${name}-password`)),
    )) as [string, string, string];
  });
  afterAll(() => server.stop());
  const application = { ...APPLICATION, secret: 'a secret of our own' };

  test('a missing or invalid token is 401 Unauthorized', async () => {
    for (const token of [undefined, 'made-up']) {
      const response = await askFor(server, 'private-user-uma', token);
      expect([response.status, await response.text()]).toEqual([401, 'Unauthorized']);
    }
  });

  test('missing and malformed fields are 400 Bad Request', async () => {
    const requests: Record<string, string>[] = [
      {},
      { socket_id: SOCKET },
      { channel_name: 'private-user-uma' },
      { socket_id: 'x', channel_name: 'private-user-uma' },
      { socket_id: '1.1:private-user-ada', channel_name: 'private-user-uma' },
      { socket_id: SOCKET, channel_name: '' },
    ];
    for (const fields of requests) {
      const response = await ask(server, fields, { token: uma });
      expect([response.status, await response.text()]).toEqual([400, 'Bad Request']);
    }
  });

  test('JSON and form bodies are accepted', async () => {
    const send = (body: string) =>
      fetch(`${server.http}/api/pusher/auth`, {
        method: 'POST',
        headers: { authorization: `Bearer ${uma}`, 'content-type': 'application/json' },
        body,
      });
    const fields = { socket_id: SOCKET, channel_name: 'private-user-uma' };
    expect(await (await send(JSON.stringify(fields))).json()).toEqual({
      auth: subscriptionAuth(application, { socketId: SOCKET, channel: 'private-user-uma' }),
    });
    expect((await send('{')).status).toBe(400);
  });

  test('a channel of another user is 403', async () => {
    const names = [
      'private-user-ada',
      'private-user-',
      'private-room',
      'presence-room',
      'private-session-',
      'private-session-demo',
      'private-encrypted-session-1',
      'news',
    ];
    for (const name of names) expect([name, (await askFor(server, name, uma)).status]).toEqual([name, 403]);
  });

  test('the channel of a session is open to its owner and to admins', async () => {
    for (const id of [crypto.randomUUID(), 'a-session-with-a-name']) {
      await makeSession(server, id, uma);
      const channel = `private-session-${id}`;
      expect(await (await askFor(server, channel, uma)).json()).toEqual({
        auth: subscriptionAuth(application, { socketId: SOCKET, channel }),
      });
      expect((await askFor(server, channel, dev)).status).toBe(403);
      expect((await askFor(server, channel, ada)).status).toBe(200);
    }
  });

  test('a later session with the same id of another user does not share the channel', async () => {
    const id = crypto.randomUUID();
    await makeSession(server, id, uma);
    await makeSession(server, id, dev);
    expect((await askFor(server, `private-session-${id}`, dev)).status).toBe(403);
    expect((await askFor(server, `private-session-${id}`, uma)).status).toBe(200);
  });

  test('an unused UUID is permitted: the session will belong to the caller', async () => {
    expect((await askFor(server, `private-session-${crypto.randomUUID()}`, uma)).status).toBe(200);
  });

  test('a presence channel carries the identity of the caller', async () => {
    const channel = `presence-session-${crypto.randomUUID()}`;
    const channel_data = '{"user_id":"uma"}';
    expect(await (await askFor(server, channel, uma)).json()).toEqual({
      auth: subscriptionAuth(application, { socketId: SOCKET, channel, channelData: channel_data }),
      channel_data,
    });
  });

  test('a user can sign in only as the user of the token', async () => {
    const user_data = '{"id":"uma"}';
    const response = await ask(server, { socket_id: SOCKET }, { token: uma, path: 'user-auth' });
    expect(await response.json()).toEqual({
      auth: userAuth(application, { socketId: SOCKET, userData: user_data }),
      user_data,
    });
    expect((await ask(server, { socket_id: SOCKET }, { path: 'user-auth' })).status).toBe(401);
    expect((await ask(server, {}, { token: uma, path: 'user-auth' })).status).toBe(400);
  });

  test('a socket needs no token, and an invalid one is ignored', async () => {
    for (const query of ['', '&token=made-up']) {
      const one = await RawPusher.connect(server.ws, application, `/app/app-key?protocol=7${query}`);
      await (await one.greeted()).subscribe('news');
      one.client.close();
    }
  });

  test('with a configured secret, its holder can sign for every channel', async () => {
    const one = await (await RawPusher.connect(server.ws, application)).greeted();
    await one.subscribe('private-user-uma');
    one.client.close();
  });
});

test('with the default secret, session channels are opened only by this endpoint', async () => {
  const server = await startTestServer();
  const one = await (await RawPusher.connect(server.ws, APPLICATION)).greeted();
  one.ask('private-user-uma');
  expect((await one.received('pusher:subscription_error')).data.status).toBe(403);
  const token = await server.login('uma', 'uma-password');
  const permitted = await ask(
    server,
    { socket_id: one.socketId, channel_name: 'private-user-uma' },
    { token },
  );
  const { auth } = (await permitted.json()) as { auth: string };
  one.send('pusher:subscribe', { channel: 'private-user-uma', auth });
  await one.received('pusher_internal:subscription_succeeded');
  one.client.close();
  await server.stop();
});

test('with channels disabled there is no socket, no API, and no authorisation', async () => {
  const server = await startTestServer({ PARLANCE_CHANNELS: 'off' });
  expect((await askFor(server, 'private-user-local')).status).toBe(503);
  expect((await ask(server, { socket_id: SOCKET }, { path: 'user-auth' })).status).toBe(503);
  expect(
    (
      await signedCall(
        server.http,
        { application: APPLICATION },
        { method: 'GET', path: '/apps/app-id/channels' },
      )
    ).status,
  ).toBe(404);
  await expect(server.connect('/app/app-key?protocol=7')).rejects.toThrow('cannot connect');
  await server.stop();
});

test('an extra listener serves only pusher', async () => {
  const server = await startTestServer({ PARLANCE_LISTEN: 'pusher=0' });
  const port = server.running.listeners[0]?.port;
  const one = await (await RawPusher.connect(`ws://127.0.0.1:${port}`, APPLICATION)).greeted();
  one.client.close();
  await expect(RawPusher.connect(`ws://127.0.0.1:${port}`, APPLICATION, '/broadcast')).rejects.toThrow(
    'cannot connect',
  );
  await server.stop();
});
