import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { MESSAGE_ID, registered, registration, say, soFar } from '../../testing/extension.ts';
import { startTestServer, type TestServer } from '../../testing/server.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ PARLANCE_MAX_FRAME: '20000' });
});

afterAll(() => server.stop());

describe('errors', () => {
  const frame = (more: object) => JSON.stringify({ id: 'a', timestamp: 1, ...more });
  const answer = { executionId: 'exec_1_a', success: true, executionTime: 1 };
  test.each([
    ['text that is not JSON', 'hello', 'INVALID_JSON', 'JSON'],
    ['an empty frame', '', 'INVALID_JSON', 'JSON'],
    [
      'a frame that is too large',
      frame({ type: 'ping', more: 'a'.repeat(20_000) }),
      'INVALID_JSON',
      '20000 bytes',
    ],
    ['bytes that are not UTF-8', new Uint8Array([0x22, 0xff, 0x22]), 'INVALID_JSON', 'UTF-8'],
    ['null', 'null', 'INVALID_MESSAGE', 'message: '],
    ['a list', '[{"type":"ping"}]', 'INVALID_MESSAGE', 'message: '],
    ['a number', '42', 'INVALID_MESSAGE', 'message: '],
    ['no type', frame({}), 'INVALID_MESSAGE', 'type: '],
    ['a type that is not a string', frame({ type: 7 }), 'INVALID_MESSAGE', 'type: '],
    ['a type of 100 characters', frame({ type: 'a'.repeat(100) }), 'INVALID_MESSAGE', 'type: '],
    ['an id that is not a string', frame({ type: 'ping', id: 5 }), 'INVALID_MESSAGE', 'id: '],
    [
      'a time that is not a number',
      frame({ type: 'ping', timestamp: 'now' }),
      'INVALID_MESSAGE',
      'timestamp: ',
    ],
    ['no content', frame({ type: 'chat_message' }), 'INVALID_MESSAGE', 'content: '],
    [
      'content that is not a string',
      frame({ type: 'chat_message', content: {} }),
      'INVALID_MESSAGE',
      'content: ',
    ],
    ['empty content', frame({ type: 'chat_message', content: '' }), 'INVALID_MESSAGE', 'content: '],
    ['blank content', frame({ type: 'chat_message', content: ' \n\t' }), 'INVALID_MESSAGE', 'content: '],
    [
      'a session id that is not a string',
      frame({ type: 'chat_message', content: 'a', sessionId: 5 }),
      'INVALID_MESSAGE',
      'sessionId: ',
    ],
    [
      'a session id of 201 characters',
      frame({ type: 'chat_message', content: 'a', sessionId: 'a'.repeat(201) }),
      'INVALID_MESSAGE',
      'sessionId: ',
    ],
    ['a clear without a session', frame({ type: 'clear_conversation' }), 'INVALID_MESSAGE', 'sessionId: '],
    [
      'a response without an execution id',
      frame({ type: 'tool_execution_response', ...answer, executionId: undefined }),
      'INVALID_MESSAGE',
      'executionId: ',
    ],
    [
      'a response without success',
      frame({ type: 'tool_execution_response', ...answer, success: undefined }),
      'INVALID_MESSAGE',
      'success: ',
    ],
    [
      'a response without a duration',
      frame({ type: 'tool_execution_response', ...answer, executionTime: undefined }),
      'INVALID_MESSAGE',
      'executionTime: ',
    ],
    [
      'a response with a negative duration',
      frame({ type: 'tool_execution_response', ...answer, executionTime: -1 }),
      'INVALID_MESSAGE',
      'executionTime: ',
    ],
    [
      'a response without an id',
      frame({ type: 'tool_execution_response', ...answer, id: undefined }),
      'INVALID_MESSAGE',
      'id: ',
    ],
    [
      'a response without a timestamp',
      frame({ type: 'tool_execution_response', ...answer, timestamp: undefined }),
      'INVALID_MESSAGE',
      'timestamp: ',
    ],
    [
      'a response with an unknown error type',
      frame({
        type: 'tool_execution_response',
        ...answer,
        error: { type: 'odd', message: '', recoverable: true },
      }),
      'INVALID_MESSAGE',
      'error.type: ',
    ],
    [
      'a response with an incomplete error',
      frame({ type: 'tool_execution_response', ...answer, error: { type: 'network', message: '' } }),
      'INVALID_MESSAGE',
      'error.recoverable: ',
    ],
    ['a message nested too deeply', '['.repeat(201), 'INVALID_JSON', 'nested too deeply'],
    [
      'a response nested too deeply',
      `{"id":"a","timestamp":1,"type":"tool_execution_response","executionId":"e","success":true,"executionTime":1,"result":${'['.repeat(150)}${']'.repeat(150)}}`,
      'INVALID_MESSAGE',
      'result: ',
    ],
    [
      'progress above 100',
      frame({ type: 'tool_execution_status', executionId: 'e', status: 'executing', progress: 101 }),
      'INVALID_MESSAGE',
      'progress: ',
    ],
    [
      'an unknown status',
      frame({ type: 'tool_execution_status', executionId: 'e', status: 'odd' }),
      'INVALID_MESSAGE',
      'status: ',
    ],
  ])('%s: answered, and the socket stays usable', async (...[, raw, code, details]) => {
    const client = await registered(server);
    client.socket.send(raw);
    const error = await client.next('error');
    expect(error).toMatchObject({ code, details: expect.stringContaining(details) });
    expect(error).toMatchObject({
      id: expect.stringMatching(MESSAGE_ID),
      timestamp: expect.any(Number),
      message: expect.stringContaining(details.trim()),
    });
    say(client, 'echo hi');
    await client.next('agent_response');
  });

  test.each(['hello', 'agent_response', 'a'.repeat(99), '__proto__', 'constructor'])(
    'the type %s is unknown',
    async (type) => {
      const client = await server.connect('/');
      client.send({ id: 'a', type, timestamp: 1 });
      expect(await client.next('error')).toEqual({
        id: expect.stringMatching(MESSAGE_ID),
        type: 'error',
        timestamp: expect.any(Number),
        message: `Unknown message type: ${type}`,
        code: 'UNKNOWN_MESSAGE_TYPE',
      });
    },
  );

  test('a binary frame is read as text', async () => {
    const client = await server.connect('/');
    client.socket.send(new TextEncoder().encode('{"id":"ä","type":"ping"}'));
    expect(await client.next('pong')).toEqual({ id: 'ä', type: 'pong', timestamp: expect.any(Number) });
  });

  test('ids fit the buffer of a C client, and are unique', async () => {
    const client = await registered(server);
    say(client, 'run touch ids');
    await client.next((frame) => String(frame.message).startsWith('Waiting'));
    say(client, 'echo later');
    say(client, 'no');
    await client.next('agent_response');
    await client.next('agent_response');
    const ids = client.frames.map((frame) => String(frame.id));
    expect(ids.filter((id) => id.length >= 64)).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
    expect(client.frames.filter((frame) => frame.type.length >= 32)).toEqual([]);
  });
});

describe('a server that requires authentication', () => {
  test('registration needs a valid session token, or one on the socket', async () => {
    const closed = await startTestServer({ PARLANCE_AUTH: 'required' });
    try {
      const client = await closed.connect('/');
      client.send(registration());
      expect(await client.next('error')).toMatchObject({
        message: 'Registration failed',
        details: 'A token is required.',
      });
      say(client, 'hello');
      expect((await client.next('error')).message).toBe('Client not registered. Please register first.');
      const token = await closed.login('dev', 'dev-password');
      client.send(registration([], { sessionToken: token }));
      expect((await client.next('registration_confirmed')).authenticated).toBe(true);
      say(client, 'echo hi');
      await client.next('agent_response');

      const other = await closed.connect('/', { authorization: `Bearer ${token}` });
      other.send(registration());
      expect((await other.next('registration_confirmed')).authenticated).toBe(true);
    } finally {
      await closed.stop();
    }
  });
});

describe('a change of user', () => {
  test('detaches the socket from its previous sessions', async () => {
    const client = await registered(server, []);
    say(client, 'echo mine', 'session_1_local');
    await client.next('agent_response');
    client.send(registration([], { sessionToken: await server.login('uma', 'uma-password') }));
    await client.next('registration_confirmed');
    const local = await registered(server);
    say(local, 'echo secret', 'session_1_local');
    await local.next('agent_response');
    expect(await soFar(client)).toEqual([]);
  });
});

test('a server announces its shutdown, then closes with 1001', async () => {
  const stopping = await startTestServer();
  const client = await registered(stopping);
  await stopping.running.stop();
  expect(await client.next('server_shutdown')).toEqual({
    id: expect.stringMatching(MESSAGE_ID),
    type: 'server_shutdown',
    timestamp: expect.any(Number),
    message: 'The server is shutting down.',
  });
  expect((await client.closed).code).toBe(1001);
  await stopping.stop();
});
