import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import {
  isStatus,
  MESSAGE_ID,
  registered,
  registration,
  response,
  say,
  soFar,
} from '../../testing/extension.ts';
import { startTestServer, type TestServer } from '../../testing/server.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});

afterAll(() => server.stop());

let sessions = 0;

const newSession = () => `session_1234567890_${String(++sessions).padStart(9, 'a')}`;

const head = { id: expect.stringMatching(MESSAGE_ID), timestamp: expect.any(Number) };

describe('a chat', () => {
  test('gets statuses and one response', async () => {
    const client = await registered(server);
    const sessionId = newSession();
    say(client, 'count to 3', sessionId);
    expect(await client.until('agent_response')).toEqual([
      { ...head, type: 'agent_status', status: 'thinking', sessionId },
      { ...head, type: 'agent_status', status: 'complete', sessionId },
      { ...head, type: 'agent_response', content: '1 2 3', sessionId, toolsUsed: [] },
    ]);
  });

  test('with a tool call reports the tool, and lists it in the response', async () => {
    const client = await registered(server);
    const sessionId = newSession();
    say(client, 'echo hi', sessionId);
    const frames = await client.until('agent_response');
    expect(frames).toEqual([
      { ...head, type: 'agent_status', status: 'thinking', sessionId },
      {
        ...head,
        type: 'agent_status',
        status: 'thinking',
        message: expect.stringContaining('hi'),
        sessionId,
      },
      { ...head, type: 'agent_status', status: 'using_tool', currentTool: 'echo', sessionId },
      { ...head, type: 'agent_status', status: 'analyzing', sessionId },
      { ...head, type: 'agent_status', status: 'complete', sessionId },
      {
        ...head,
        type: 'agent_response',
        content: expect.stringContaining('hi'),
        sessionId,
        toolsUsed: [{ tool: 'echo', input: 'hi', output: 'hi', executionTime: expect.any(Number) }],
      },
    ]);
  });

  test('with reasoning returns the reasoning as text', async () => {
    const client = await registered(server);
    say(client, 'think about bridges', newSession());
    const answer = await client.next('agent_response');
    expect(answer.reasoning).toContain('bridges');
    expect(answer.content).not.toBe('');
  });

  test('that fails ends with a status and an error, and the session continues', async () => {
    const client = await registered(server);
    const sessionId = newSession();
    say(client, 'fail', sessionId);
    const frames = await client.until('error');
    expect(frames.slice(-2)).toEqual([
      { ...head, type: 'agent_status', status: 'error', message: expect.any(String), sessionId },
      {
        ...head,
        type: 'error',
        message: expect.stringMatching(/^Chat processing failed: ./),
        code: 'HANDLER_ERROR',
        details: 'provider_unavailable',
        sessionId,
      },
    ]);
    say(client, 'count to 3', sessionId);
    expect((await client.next('agent_response')).content).toBe('1 2 3');
  });

  test('without a session continues the last one, or creates one', async () => {
    const client = await registered(server);
    say(client, 'count to 1');
    const { sessionId } = await client.next('agent_response');
    expect(sessionId).toMatch(/^session_\d+_[0-9a-z]{9}$/);
    say(client, 'count to 2');
    expect((await client.next('agent_response')).sessionId).toBe(sessionId as string);
    const other = newSession();
    say(client, 'count to 3', other);
    await client.next('agent_response');
    client.send({ type: 'chat_message', content: 'count to 4', sessionId: '' });
    expect((await client.next('agent_response')).sessionId).toBe(other);
  });

  test('keeps its content unchanged', async () => {
    const client = await registered(server);
    const sessionId = newSession();
    say(client, '  count to 2\n', sessionId);
    await client.next('agent_response');
    const stored = await fetch(`${server.http}/v1/sessions/${sessionId}/events?after=0`);
    expect(await stored.text()).toContain(JSON.stringify('  count to 2\n'));
  });
});

describe('sessions', () => {
  test('of two sessions run concurrently', async () => {
    const client = await registered(server, ['extract_page_content']);
    const [slow, quick] = [newSession(), newSession()];
    say(client, 'extract this page', slow);
    const request = await client.next('tool_execution_request');
    say(client, 'count to 3', quick);
    expect((await client.next('agent_response')).sessionId).toBe(quick);
    client.send(response(request));
    expect((await client.next('agent_response')).sessionId).toBe(slow);
  });

  test('in one session messages are queued', async () => {
    const client = await registered(server, ['extract_page_content']);
    const sessionId = newSession();
    say(client, 'extract this page', sessionId);
    const request = await client.next('tool_execution_request');
    say(client, 'count to 3', sessionId);
    expect((await soFar(client)).filter((frame) => frame.type === 'agent_response')).toEqual([]);
    client.send(response(request));
    expect((await client.next('agent_response')).content).toContain('Page Title');
    expect((await client.next('agent_response')).content).toBe('1 2 3');
  });

  test('a socket opened with a session receives turns of other sockets', async () => {
    const client = await registered(server);
    const sessionId = newSession();
    say(client, 'count to 1', sessionId);
    await client.next('agent_response');
    const watching = await server.connect(`/extension?session=${sessionId}`);
    await soFar(watching);
    say(client, 'count to 2', sessionId);
    expect((await watching.next('agent_response')).content).toBe('1 2');
    watching.send(registration());
    say(watching, 'count to 3');
    expect((await client.next((frame) => frame.content === '1 2 3')).sessionId).toBe(sessionId);
  });

  test('a socket that registers during a turn is notified of it', async () => {
    const client = await registered(server, ['extract_page_content']);
    const sessionId = newSession();
    say(client, 'extract this page', sessionId);
    const request = await client.next('tool_execution_request');
    const watching = await server.connect(`/extension?session=${sessionId}`);
    watching.send(registration());
    expect(await watching.next('agent_status')).toEqual({
      ...head,
      type: 'agent_status',
      status: 'thinking',
      sessionId,
    });
    client.send(response(request));
    expect((await watching.next('agent_response')).sessionId).toBe(sessionId);
  });

  test('another user with the same session name receives nothing', async () => {
    const client = await registered(server);
    const sessionId = newSession();
    say(client, 'count to 1', sessionId);
    await client.next('agent_response');
    const sessionToken = await server.login('uma', 'uma-password');
    const other = await registered(server, [], { sessionToken, path: `/?session=${sessionId}` });
    say(other, 'count to 2', sessionId);
    await other.next('agent_response');
    say(client, 'count to 3', sessionId);
    await client.next('agent_response');
    expect(client.frames.some((frame) => frame.content === '1 2')).toBe(false);
    expect(await soFar(other)).toEqual([]);
  });

  test('a socket that authenticates on registration is attached at that point', async () => {
    const sessionToken = await server.login('uma', 'uma-password');
    const client = await registered(server, [], { sessionToken });
    const sessionId = newSession();
    say(client, 'count to 1', sessionId);
    await client.next('agent_response');
    const watching = await registered(server, [], { sessionToken, path: `/?session=${sessionId}` });
    say(client, 'count to 2', sessionId);
    expect((await watching.next('agent_response')).content).toBe('1 2');
  });

  test('a disconnect does not stop the turn, and the reconnected socket receives its end', async () => {
    // A separate user, so that no browser of another test is asked.
    const sessionToken = await server.login('dev', 'dev-password');
    const browser = await registered(server, ['extract_page_content'], { sessionToken });
    const client = await registered(server, [], { sessionToken });
    const sessionId = newSession();
    say(client, 'extract this page', sessionId);
    const request = await browser.next('tool_execution_request');
    client.close();
    await client.closed;
    const back = await server.connect(`/extension?session=${sessionId}&token=${sessionToken}`);
    back.send(registration());
    await back.next(isStatus('thinking'));
    browser.send(response(request));
    expect((await back.next('agent_response')).content).toContain('Page Title');
  });
});

describe('clearing', () => {
  const clear = (sessionId?: string) => ({
    id: 'msg_1234567890_abcdef123',
    type: 'clear_conversation',
    timestamp: 1234567890000,
    clientId: 'not_this_socket',
    sessionId,
  });

  test('clears the context and notifies all sockets of the session', async () => {
    const client = await registered(server);
    const sessionId = newSession();
    say(client, 'count to 2', sessionId);
    await client.next('agent_response');
    const other = await registered(server);
    other.send(clear(sessionId));
    const cleared = { ...head, type: 'conversation_cleared', sessionId, success: true };
    expect(await client.next('conversation_cleared')).toEqual(cleared);
    expect(await other.next('conversation_cleared')).toEqual(cleared);
    say(client, 'count to 3', sessionId);
    await client.next('agent_response');
  });

  test('without a session applies to the last one', async () => {
    const client = await registered(server);
    const sessionId = newSession();
    say(client, 'count to 2', sessionId);
    await client.next('agent_response');
    client.send(clear());
    expect((await client.next('conversation_cleared')).sessionId).toBe(sessionId);
  });

  test('of an unknown session is confirmed and creates none', async () => {
    const client = await registered(server);
    const sessionId = newSession();
    client.send(clear(sessionId));
    expect(await client.next('conversation_cleared')).toEqual({
      ...head,
      type: 'conversation_cleared',
      sessionId,
      success: true,
    });
    expect((await fetch(`${server.http}/v1/sessions/${sessionId}`)).status).toBe(404);
  });

  test('ends a running turn first, and reports it', async () => {
    const client = await registered(server, ['extract_page_content']);
    const sessionId = newSession();
    say(client, 'extract this page', sessionId);
    const request = await client.next('tool_execution_request');
    client.send(clear(sessionId));
    const frames = await client.until('conversation_cleared');
    expect(frames.slice(-3)).toEqual([
      { ...head, type: 'agent_status', status: 'error', message: 'The turn was cancelled.', sessionId },
      {
        ...head,
        type: 'error',
        message: 'Chat processing failed: The turn was cancelled.',
        code: 'HANDLER_ERROR',
        details: 'cancelled',
        sessionId,
      },
      { ...head, type: 'conversation_cleared', sessionId, success: true },
    ]);
    client.send(response(request));
    expect(await soFar(client)).toEqual([]);
  });
});
