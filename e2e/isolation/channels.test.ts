/** A channel is named by the session id only, which another principal may use as well. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { APPLICATION, RawPusher, signedCall } from '../../packages/server/src/testing/pusher.ts';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { bearer, type Person, request } from './private-data.ts';

const PAGE = {
  url: 'http://shop.example/',
  dom: '<button id="4">Submit</button>',
  query: 'click the Submit button',
};

describe.each(['required', 'open'])('in %s mode', (PARLANCE_AUTH) => {
  /** If a login is required, the secret is another one. */
  const refusal = PARLANCE_AUTH === 'open' ? 403 : 401;
  let server: TestServer;
  let olga: Person;
  let bob: Person;
  beforeAll(async () => {
    const AUTH_USERS = 'olga:olga-password:developer;bob:bob-password:developer';
    server = await startTestServer({ PARLANCE_AUTH, AUTH_USERS });
    olga = { name: 'olga', token: await server.login('olga', 'olga-password') };
    bob = { name: 'bob', token: await server.login('bob', 'bob-password') };
  });
  afterAll(() => server.stop());

  /** A side panel that subscribes to the channel of the session. */
  async function panel(who: Person, sessionId: string) {
    const client = await (await RawPusher.connect(server.ws, APPLICATION)).greeted();
    const channel = `private-session-${sessionId}`;
    const response = await fetch(`${server.http}/api/pusher/auth`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...bearer(who) },
      body: JSON.stringify({ socket_id: client.socketId, channel_name: channel }),
    });
    if (response.status !== 200) return { client, status: response.status };
    const { auth } = (await response.json()) as { auth: string };
    client.send('pusher:subscribe', { channel, auth });
    await client.received('pusher_internal:subscription_succeeded');
    return { client, status: 200 };
  }

  test('a session with the same id of another user neither receives nor sends on the channel of the first', async () => {
    const sessionId = crypto.randomUUID();
    await request(server, olga, {
      method: 'POST',
      path: '/api/agent/interact',
      body: { ...PAGE, sessionId },
    });
    const hers = await panel(olga, sessionId);
    const made = await request(server, bob, {
      method: 'POST',
      path: `/v1/sessions/${sessionId}/commands`,
      body: {
        type: 'session.create',
      },
    });
    expect(made.status).toBe(200);
    expect((await panel(bob, sessionId)).status).toBe(403);
    const own = await request(server, bob, {
      method: 'POST',
      path: '/api/agent/interact',
      body: {
        ...PAGE,
        sessionId,
        query: 'click forged',
      },
    });
    expect(own.status).toBe(200);
    expect(await hers.client.settled()).toEqual([]);
    // Her own events still arrive.
    await request(server, olga, {
      method: 'POST',
      path: '/api/agent/interact',
      body: {
        ...PAGE,
        sessionId,
        query: 'click the Submit button',
      },
    });
    await hers.client.received('interact_response');
  });

  test('requests signed with the default secret list no sessions and receive no events', async () => {
    const sessionId = crypto.randomUUID();
    await request(server, olga, {
      method: 'POST',
      path: '/api/agent/interact',
      body: { ...PAGE, sessionId },
    });
    await panel(olga, sessionId);
    const call = (path: string) =>
      signedCall(server.http, { application: APPLICATION }, { method: 'GET', path });
    expect(await (await call('/apps/app-id/channels')).text()).not.toContain(sessionId);
    expect((await call(`/apps/app-id/channels/private-session-${sessionId}`)).status).toBe(refusal);
    expect((await call(`/apps/app-id/channels/presence-session-${sessionId}/users`)).status).toBe(refusal);
  });

  test('a signature is valid only for the socket and channel it was issued for', async () => {
    const sessionId = crypto.randomUUID();
    await request(server, olga, {
      method: 'POST',
      path: '/api/agent/interact',
      body: { ...PAGE, sessionId },
    });
    const { client } = await panel(olga, sessionId);
    const thief = await (await RawPusher.connect(server.ws, APPLICATION)).greeted();
    thief.ask(`private-session-${sessionId}`);
    expect((await thief.received('pusher:subscription_error')).data.status).toBe(refusal);
    // Bob requests a signature for her socket: it grants neither of them access to the other's channels.
    const body = { socket_id: client.socketId, channel_name: `private-session-${sessionId}` };
    expect(
      (await request(server, bob, { method: 'POST', path: '/api/pusher/auth', body: body })).status,
    ).toBe(403);
  });

  test('generated ids cannot be guessed from one another', async () => {
    const made: string[] = [];
    for (let count = 0; count < 20; count++) {
      const { text } = await request(server, olga, {
        method: 'POST',
        path: '/api/agent/interact',
        body: PAGE,
      });
      const { sessionId, taskId } = JSON.parse(text).data;
      const conversation = await request(server, olga, {
        method: 'POST',
        path: '/v1/conversations',
        body: {
          domain_id: 'software_development',
        },
      });
      made.push(sessionId, taskId, JSON.parse(conversation.text).id);
    }
    for (const id of made)
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    for (const part of [0, 4]) expect(new Set(made.map((id) => id.split('-')[part])).size).toBe(made.length);
  });
});
