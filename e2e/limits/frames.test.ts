/** Frames before authentication. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { TestClient } from '../../packages/server/src/testing/client.ts';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ PARLANCE_AUTH: 'required' });
});
afterAll(() => server.stop());

describe('a deeply nested frame is refused before it is parsed, and the socket stays open', () => {
  const dialects: [path: string, ping: object, pong: (frame: { type?: string }) => boolean][] = [
    ['/extension', { type: 'ping' }, ({ type }) => type === 'pong'],
    ['/agentloop', { id: 'a', type: 'get_context_info', payload: {} }, ({ type }) => type === 'context_info'],
    ['/broadcast', { type: 'chat', message: '' }, ({ type }) => type === 'error'],
    ['/conversations', { type: 'PING' }, ({ type }) => type === 'PONG'],
  ];
  for (const [path, ping, pong] of dialects) {
    test(path, async () => {
      const client = await server.connect(`${path}?token=${await server.login('uma', 'uma-password')}`);
      // Not JSON: a parser would report that instead.
      client.socket.send('['.repeat(1_000_000));
      await client.next((frame) => JSON.stringify(frame).includes('nested too deeply'));
      client.send(ping);
      await client.next(pong);
    });
  }
});

describe('pusher', () => {
  async function greeted(): Promise<TestClient> {
    const client = await server.connect('/app/app-key?protocol=7');
    await client.next(({ event }) => event === 'pusher:connection_established');
    return client;
  }
  const complaint = async (client: TestClient) =>
    (await client.next(({ event }) => event === 'pusher:error')).data;
  const subscribe = async (client: TestClient, channel: string, more: object = {}) => {
    client.send({ event: 'pusher:subscribe', data: JSON.stringify({ channel, ...more }) });
    await client.next(({ event }) => event === 'pusher_internal:subscription_succeeded');
  };
  const deep = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);

  test('deeply nested frames are refused, including JSON inside the frame', async () => {
    const client = await greeted();
    client.socket.send('['.repeat(60_000));
    expect(await complaint(client)).toEqual({ code: 4300, message: 'the message is nested too deeply' });
    client.send({ event: 'pusher:subscribe', data: JSON.stringify({ channel: 'a', more: deep(300) }) });
    expect(await complaint(client)).toEqual({
      code: 4300,
      message: 'The data of pusher:subscribe do not fit',
    });
    await subscribe(client, 'b', { more: deep(100) });
  });

  test('the frame limit is small until a caller with a token has authorised the socket', async () => {
    const client = await server.connect('/app/app-key?protocol=7');
    const greeting = await client.next(({ event }) => event === 'pusher:connection_established');
    const { socket_id } = JSON.parse(String(greeting.data)) as { socket_id: string };
    const large = { event: 'client-large', channel: 'news', data: 'x'.repeat(100_000) };
    client.send(large);
    expect(await complaint(client)).toEqual({
      code: 4300,
      message: 'the message is larger than 65536 bytes',
    });
    await subscribe(client, 'news');
    client.send(large);
    expect(await complaint(client)).toMatchObject({ code: 4300 });
    const channel = 'private-user-uma';
    const permit = await fetch(`${server.http}/api/pusher/auth`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${await server.login('uma', 'uma-password')}`,
      },
      body: JSON.stringify({ socket_id, channel_name: channel }),
    });
    await subscribe(client, channel, (await permit.json()) as object);
    client.send(large);
    expect(await complaint(client)).toMatchObject({
      code: 4301,
      message: expect.stringContaining('Client event rejected'),
    });
  });
});
