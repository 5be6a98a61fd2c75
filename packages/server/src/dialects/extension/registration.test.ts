import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { MESSAGE_ID, registered, registration, say } from '../../testing/extension.ts';
import { startTestServer, type TestServer } from '../../testing/server.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ PARLANCE_MAX_FRAME: '20000' });
});

afterAll(() => server.stop());

describe('registration', () => {
  test('the example of the contract is confirmed', async () => {
    const client = await server.connect('/');
    client.send(registration(['extract_page_content']));
    const confirmed = await client.next('registration_confirmed');
    const capabilities = [
      'chat',
      'agent_processing',
      'tool_orchestration',
      'multi_client_support',
      'real_time_status',
    ];
    expect(confirmed).toEqual({
      id: expect.stringMatching(MESSAGE_ID),
      type: 'registration_confirmed',
      timestamp: expect.any(Number),
      clientId: expect.stringMatching(/^socket_\d+_[0-9a-z]{9}$/),
      capabilities,
      serverCapabilities: capabilities,
      authenticated: false,
      permissions: expect.arrayContaining(['chat:send', 'tool:approve']),
    });
  });

  test('registering again is confirmed again, for the same client', async () => {
    const client = await server.connect('/');
    client.send(registration(['open_url']));
    client.send(registration([]));
    const first = await client.next('registration_confirmed');
    const second = await client.next('registration_confirmed');
    expect(second.clientId).toBe(first.clientId);
    expect(second.id).not.toBe(first.id);
  });

  test('optional fields can be absent or null', async () => {
    const client = await server.connect('/');
    client.send({ type: 'client_registration', capabilities: [] });
    await client.next('registration_confirmed');
    client.send(registration([], { userAgent: null, metadata: null, sessionToken: null, userId: null }));
    await client.next('registration_confirmed');
  });

  const forbidden = (text: string) => JSON.stringify(registration([])).replace(/"metadata":\{[^}]*\}/, text);
  const deep = `"metadata":${'{"a":'.repeat(150)}1${'}'.repeat(150)}`;
  test.each([
    ['missing capabilities', JSON.stringify({ ...registration(), capabilities: undefined }), 'capabilities'],
    [
      'capabilities that are not a list',
      JSON.stringify(registration([], { capabilities: 'all' })),
      'capabilities',
    ],
    [
      'a capability that is not a string',
      JSON.stringify(registration([], { capabilities: [1] })),
      'capabilities.0',
    ],
    ['51 capabilities', JSON.stringify(registration(Array(51).fill('a'))), 'capabilities'],
    ['a capability of 101 characters', JSON.stringify(registration(['a'.repeat(101)])), 'capabilities.0'],
    [
      'a user agent of 501 characters',
      JSON.stringify(registration([], { userAgent: 'a'.repeat(501) })),
      'userAgent',
    ],
    ['metadata that is a list', JSON.stringify(registration([], { metadata: [] })), 'metadata'],
    [
      'metadata of more than 10,000 characters',
      JSON.stringify(registration([], { metadata: { a: 'a'.repeat(10_000) } })),
      'metadata',
    ],
    ['a key __proto__', forbidden('"metadata":{"__proto__":{"admin":true}}'), 'metadata'],
    ['a key constructor inside', forbidden('"metadata":{"a":[{"constructor":1}]}'), 'metadata'],
    ['a key prototype inside', forbidden('"metadata":{"a":{"b":{"prototype":1}}}'), 'metadata'],
    ['metadata nested deeply', forbidden(deep), 'metadata'],
    ['a token that is not a string', JSON.stringify(registration([], { sessionToken: 1 })), 'sessionToken'],
  ])('%s: refused with the name of the field, and the client is not registered', async (_, text, field) => {
    const client = await server.connect('/');
    client.socket.send(text);
    expect(await client.next('error')).toEqual({
      id: expect.stringMatching(MESSAGE_ID),
      type: 'error',
      timestamp: expect.any(Number),
      message: 'Registration failed',
      code: 'INVALID_MESSAGE',
      details: expect.stringMatching(new RegExp(`^${field}: `)),
    });
    say(client, 'hello');
    expect((await client.next('error')).message).toBe('Client not registered. Please register first.');
  });

  test('values at the limits are accepted', async () => {
    const capabilities = Array.from({ length: 50 }, (_, n) => String(n).padEnd(100, 'a'));
    const metadata = { a: 'a'.repeat(10_000 - '{"a":""}'.length) };
    await registered(server, capabilities, { userAgent: 'a'.repeat(500), metadata });
  });

  test('a session token authenticates the socket, an invalid one is refused with the reason', async () => {
    const client = await server.connect('/');
    client.send(registration([], { sessionToken: 'nonsense' }));
    expect(await client.next('error')).toMatchObject({
      message: 'Registration failed',
      code: 'HANDLER_ERROR',
      details: expect.stringContaining('token'),
    });
    client.send(registration([], { sessionToken: await server.login('uma', 'uma-password') }));
    expect(await client.next('registration_confirmed')).toMatchObject({
      authenticated: true,
      permissions: ['chat:send', 'chat:read', 'tool:request'],
    });
  });

  test('a claimed user id grants nothing', async () => {
    const client = await server.connect('/');
    client.send(registration([], { userId: 'ada' }));
    expect((await client.next('registration_confirmed')).authenticated).toBe(false);
  });
});

describe('before registration', () => {
  test('nothing is sent on connect, and a ping is answered', async () => {
    const client = await server.connect('/');
    client.send({ id: 'msg_1234567890_abcdef123', type: 'ping', timestamp: 1234567890000 });
    expect(await client.next('pong')).toEqual({
      id: 'msg_1234567890_abcdef123',
      type: 'pong',
      timestamp: expect.any(Number),
      originalTimestamp: 1234567890000,
    });
    expect(client.frames).toHaveLength(1);
  });

  test.each(['chat_message', 'clear_conversation'])(
    '%s is refused, and the socket stays open',
    async (type) => {
      const client = await server.connect('/');
      client.send({ id: 'a', type, timestamp: 1, content: 'hello', sessionId: 'session_1_before' });
      expect(await client.next('error')).toEqual({
        id: expect.stringMatching(MESSAGE_ID),
        type: 'error',
        timestamp: expect.any(Number),
        message: 'Client not registered. Please register first.',
        code: 'HANDLER_ERROR',
        sessionId: 'session_1_before',
      });
      client.send(registration());
      await client.next('registration_confirmed');
    },
  );

  test('a chat directly after the registration is accepted', async () => {
    const client = await server.connect('/');
    client.send(registration());
    say(client, 'echo hi');
    const frames = await client.until('agent_response');
    expect(frames[0]?.type).toBe('registration_confirmed');
  });
});
