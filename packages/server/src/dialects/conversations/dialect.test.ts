import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connectAs, next, of, say, settled, tokenOf, turn, UUID } from '../../testing/conversations.ts';
import { startTestServer, type TestServer } from '../../testing/server.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});

afterAll(() => server.stop());

describe('connecting', () => {
  test('nothing is sent on connect, and PING gets exactly PONG', async () => {
    const client = await connectAs(server, 'uma');
    expect(await settled(client)).toEqual([{ type: 'PONG' }]);
  });

  test('the token can be in Authorization: Bearer', async () => {
    const token = await tokenOf(server, 'uma');
    const client = await server.connect('/ws', { authorization: `Bearer ${token}` });
    expect(await settled(client)).toEqual([{ type: 'PONG' }]);
  });

  test('a socket with an invalid token is accepted and closed with 1008', async () => {
    for (const path of ['/ws?token=not-a-token', '/conversations?token=not-a-token']) {
      const client = await server.connect(path);
      expect((await client.closed).code).toBe(1008);
    }
  });

  test('a socket without a token is accepted and closed with 1008, even in open mode', async () => {
    const client = await server.connect('/conversations');
    expect((await client.closed).code).toBe(1008);
    expect(client.frames).toEqual([]);
  });

  test('on the shared path, a socket without a token is closed with 1008 at the first frame of this contract', async () => {
    const client = await server.connect('/ws');
    client.send({ type: 'PING' });
    expect((await client.closed).code).toBe(1008);
    expect(client.frames).toEqual([]);
  });

  test('an extra listener serves it at every path and also requires a token', async () => {
    const other = await startTestServer({ PARLANCE_LISTEN: 'conversations=0' });
    try {
      const port = other.running.listeners[0]?.port;
      const token = await other.login('uma', 'uma-password');
      const url = `ws://127.0.0.1:${port}/any/path`;
      const { TestClient } = await import('../../testing/client.ts');
      const client = await TestClient.connect(`${url}?token=${token}`);
      expect(await settled(client)).toEqual([{ type: 'PONG' }]);
      client.close();
      const anonymous = await TestClient.connect(url);
      expect((await anonymous.closed).code).toBe(1008);
    } finally {
      await other.stop();
    }
  });
});

describe('start_conversation', () => {
  test('the example of the contract', async () => {
    const client = await connectAs(server, 'uma');
    client.send({ type: 'start_conversation', payload: { domainId: 'software_development' } });
    expect(await client.next('conversation_started')).toEqual({
      type: 'conversation_started',
      payload: { conversationId: UUID, domainId: 'software_development', activeAgent: 'coder' },
    });
  });

  test.each([
    ['social_chat', 'empath'],
    ['social_simulation', 'storyteller'],
    ['brainstorming', 'moderator'],
  ])('%s starts with %s', async (domainId, activeAgent) => {
    const client = await connectAs(server, 'uma');
    client.send({ type: 'start_conversation', payload: { domainId } });
    expect(await next(client, 'conversation_started')).toMatchObject({ payload: { domainId, activeAgent } });
  });
});

describe('the id of a conversation', () => {
  test('temp-… starts in the default domain and is answered under that id', async () => {
    const client = await connectAs(server, 'uma');
    const conversationId = `temp-${Date.now()}`;
    say(client, conversationId, 'count to 2');
    const frames = await turn(client);
    expect(frames[0]).toMatchObject({ type: 'agent_selected', conversationId, agent_id: 'coder' });
    for (const frame of frames) expect(frame.conversationId).toBe(conversationId);
    say(client, conversationId, 'count to 3');
    expect(of(await turn(client), 'message_complete')[0]?.payload.content).toBe('1 2 3');
  });

  test('the same temp-… of two users is two conversations', async () => {
    const conversationId = 'temp-1700000000000';
    const [uma, dev] = [await connectAs(server, 'uma'), await connectAs(server, 'dev')];
    say(uma, conversationId, 'count to 2');
    await turn(uma);
    say(dev, conversationId, 'count to 3');
    expect(of(await turn(dev), 'message_complete')[0]?.payload.content).toBe('1 2 3');
    expect(of(await settled(uma), 'message_complete')).toEqual([]);
  });

  test('a session that the principal started in another dialect is accepted', async () => {
    const token = await tokenOf(server, 'uma');
    const page = await server.connect(`/broadcast?token=${token}`);
    page.send({ type: 'chat', message: 'count to 2', session_id: 'begun elsewhere' });
    await page.next('agent_message');
    const client = await connectAs(server, 'uma');
    say(client, 'begun elsewhere', 'count to 3');
    expect(of(await turn(client), 'message_complete')[0]).toMatchObject({
      conversationId: 'begun elsewhere',
      payload: { content: '1 2 3' },
    });
  });
});
