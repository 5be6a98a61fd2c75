import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { TestClient } from '../../testing/client.ts';
import { MESSAGE_ID, page, registered, registration, response, say, soFar } from '../../testing/extension.ts';
import { startTestServer, type TestServer } from '../../testing/server.ts';

let server: TestServer;
let clients: TestClient[] = [];
beforeAll(async () => {
  server = await startTestServer({ ALLOWED_TOOL_ORIGINS: 'https://example.com,https://example.org' });
});
afterAll(() => server.stop());
/** A browser that stays connected could receive requests of the next test. */
afterEach(async () => {
  for (const client of clients) client.close();
  await Promise.all(clients.map((client) => client.closed));
  clients = [];
});

let sessions = 0;
const newSession = () => `session_tools_${++sessions}`;
const head = { id: expect.stringMatching(MESSAGE_ID), timestamp: expect.any(Number) };

async function client(...capabilities: string[]): Promise<TestClient> {
  const made = await registered(server, capabilities);
  clients.push(made);
  return made;
}

describe('a tool of a client', () => {
  test('is requested as in the contract, and its result reaches the response', async () => {
    const browser = await client('extract_page_content');
    const sessionId = newSession();
    say(browser, 'extract this page', sessionId);
    const request = await browser.next('tool_execution_request');
    expect(request).toEqual({
      ...head,
      type: 'tool_execution_request',
      executionId: expect.stringMatching(/^exec_\d+_[0-9a-z]{9}$/),
      toolName: 'extract_page_content',
      parameters: {},
      timeout: 15_000,
      securityContext: {
        allowedOrigins: ['https://example.com', 'https://example.org'],
        permissions: ['content_extraction', 'page_access'],
        parameterValidation: expect.objectContaining({ type: 'object', properties: expect.any(Object) }),
      },
    });
    const error = { type: 'validation', message: 'Error description', recoverable: true, retryAfter: 5000 };
    browser.send(response(request, { error }));
    const answer = await browser.next('agent_response');
    expect(answer.content).toContain('Page Title');
    expect(answer.toolsUsed).toEqual([
      {
        tool: 'extract_page_content',
        input: '{}',
        output: JSON.stringify(page),
        executionTime: expect.any(Number),
      },
    ]);
  });

  test('open_url has a timeout and permissions of its own', async () => {
    const browser = await client('open_url');
    say(browser, 'open https://example.com', newSession());
    const request = await browser.next('tool_execution_request');
    expect(request).toMatchObject({
      toolName: 'open_url',
      parameters: { url: 'https://example.com' },
      timeout: 45_000,
      securityContext: { permissions: ['navigation', 'tab_management'] },
    });
    browser.send(response(request, { result: null, error: null }));
    expect((await browser.next('agent_response')).toolsUsed).toMatchObject([
      { input: 'https://example.com' },
    ]);
  });

  test('other tools have 30 seconds and can interact', async () => {
    const browser = await client('get_selected_text');
    say(browser, 'get the selected text', newSession());
    const request = await browser.next('tool_execution_request');
    expect(request).toMatchObject({
      toolName: 'get_selected_text',
      timeout: 30_000,
      securityContext: { permissions: ['browser_interaction'] },
    });
    browser.send(response(request, { result: 'some words' }));
    expect((await browser.next('agent_response')).content).toContain('some words');
  });

  test('can be run by another client than the chatting one', async () => {
    const chatting = await client();
    const browser = await client('extract_page_content');
    say(chatting, 'extract this page', newSession());
    browser.send(response(await browser.next('tool_execution_request')));
    expect((await chatting.next('agent_response')).content).toContain('Page Title');
    expect(chatting.frames.some((frame) => frame.type === 'tool_execution_request')).toBe(false);
  });

  test('is run by the chatting client if it offers the tool, otherwise by the least busy one', async () => {
    const first = await client('extract_page_content');
    const second = await client('extract_page_content');
    say(second, 'extract this page', newSession());
    const requests = [await second.next('tool_execution_request')];
    const chatting = await client();
    say(chatting, 'extract this page', newSession());
    first.send(response(await first.next('tool_execution_request')));
    await chatting.next('agent_response');
    for (const request of requests) second.send(response(request));
    await second.next('agent_response');
  });

  test.each(['all_tools', 'browser_api_access'])(
    'can be run by a client that registered %s',
    async (capability) => {
      const browser = await client(capability);
      say(browser, 'open https://example.com', newSession());
      browser.send(response(await browser.next('tool_execution_request')));
      await browser.next('agent_response');
    },
  );

  test('a client that names the tool comes before one with browser_api_access', async () => {
    const chatting = await client('browser_api_access');
    const browser = await client('open_url');
    say(chatting, 'open https://example.com', newSession());
    browser.send(response(await browser.next('tool_execution_request')));
    await chatting.next('agent_response');
  });

  test('registering again replaces the offered tools', async () => {
    const browser = await client('extract_page_content');
    browser.send(registration([]));
    say(browser, 'extract this page', newSession());
    expect((await browser.until('agent_response')).at(-1)?.toolsUsed).toEqual([]);
  });

  test('is never run by a client of another user', async () => {
    const sessionToken = await server.login('uma', 'uma-password');
    const foreign = await registered(server, ['extract_page_content'], { sessionToken });
    clients.push(foreign);
    const chatting = await client();
    say(chatting, 'extract this page', newSession());
    await chatting.next('agent_response');
    expect(await soFar(foreign)).toEqual([]);
  });
});

describe('an answer', () => {
  test('that is an error reaches the model as text', async () => {
    const browser = await client('extract_page_content');
    say(browser, 'extract this page', newSession());
    const error = { type: 'permission', message: 'The page is closed to us', recoverable: false };
    browser.send(
      response(await browser.next('tool_execution_request'), { success: false, result: undefined, error }),
    );
    const frames = await browser.until('agent_response');
    expect(frames.at(-1)?.toolsUsed).toMatchObject([
      { output: 'Tool execution failed [permission]: The page is closed to us' },
    ]);
    expect(frames).toContainEqual(
      expect.objectContaining({ status: 'analyzing', message: 'extract_page_content failed.' }),
    );
  });

  test('without a reason is an unknown failure', async () => {
    const browser = await client('extract_page_content');
    say(browser, 'extract this page', newSession());
    browser.send(response(await browser.next('tool_execution_request'), { success: false }));
    expect((await browser.next('agent_response')).toolsUsed).toMatchObject([
      { output: 'Tool execution failed [unknown]: The client gave no reason.' },
    ]);
  });

  test('that requests a retry is retried', async () => {
    const browser = await client('extract_page_content');
    say(browser, 'extract this page', newSession());
    const first = await browser.next('tool_execution_request');
    const error = { type: 'network', message: 'Not yet', recoverable: true, retryAfter: 0 };
    browser.send(response(first, { success: false, error }));
    const second = await browser.next('tool_execution_request');
    expect(second.executionId).not.toBe(first.executionId);
    browser.send(response(second));
    expect((await browser.next('agent_response')).content).toContain('Page Title');
  });

  test('of another client, to an unknown execution, or repeated is ignored', async () => {
    const browser = await client('extract_page_content');
    const other = await client();
    say(browser, 'extract this page', newSession());
    const request = await browser.next('tool_execution_request');
    other.send(response(request, { result: { title: 'Forged', content: 'Forged' } }));
    other.send({ ...status(request), status: 'completed' });
    expect(await soFar(other)).toEqual([]);
    browser.send(response({ ...request, executionId: 'exec_1_unknown' }, { result: { title: 'Lost' } }));
    expect((await soFar(browser)).filter((frame) => frame.type !== 'tool_execution_status')).toEqual([]);
    browser.send(response(request));
    const answer = await browser.next('agent_response');
    expect(answer.toolsUsed).toMatchObject([{ output: JSON.stringify(page) }]);
    browser.send(response(request, { result: { title: 'Late' } }));
    browser.send(status(request));
    expect(await soFar(browser)).toEqual([]);
  });

  test('is never accepted from a disconnected client', async () => {
    const chatting = await client();
    const browser = await client('extract_page_content');
    const sessionId = newSession();
    say(chatting, 'extract this page', sessionId);
    const { executionId } = await browser.next('tool_execution_request');
    browser.close();
    const frames = await chatting.until('agent_response');
    const message = 'Client disconnected during tool execution: extract_page_content';
    const output = `${message}. The outcome is unknown: it may have happened wholly, in part or not at all. It was not repeated.`;
    expect(frames.at(-1)?.toolsUsed).toMatchObject([{ output }]);
    expect(frames).toContainEqual({
      ...head,
      type: 'tool_execution_status',
      executionId,
      status: 'failed',
      progress: 0,
      statusMessage: message,
      sessionId,
    });
  });
});

const status = (request: object) => ({
  id: 'msg_1234567890_abcdef123',
  type: 'tool_execution_status',
  timestamp: 1234567890000,
  executionId: (request as { executionId: string }).executionId,
  status: 'executing',
  progress: 50,
  statusMessage: 'Processing request...',
});

describe('progress', () => {
  test('is sent to all sockets, among the statuses of the server', async () => {
    const chatting = await client();
    const browser = await client('extract_page_content');
    const sessionId = newSession();
    say(chatting, 'extract this page', sessionId);
    const request = await browser.next('tool_execution_request');
    browser.send(status(request));
    browser.send({ ...status(request), progress: null, statusMessage: undefined });
    browser.send(response(request));
    const frames = await chatting.until('agent_response');
    const statuses = frames.filter((frame) => frame.type === 'tool_execution_status');
    const { executionId } = request;
    const shape = { ...head, type: 'tool_execution_status', executionId, sessionId };
    expect(statuses).toEqual([
      { ...shape, status: 'queued', progress: 0, statusMessage: 'Waiting for a client' },
      { ...shape, status: 'executing', progress: 0, statusMessage: 'Running at a client' },
      { ...shape, status: 'executing', progress: 50, statusMessage: 'Processing request...' },
      { ...shape, status: 'executing', progress: 0, statusMessage: 'Running at a client' },
      { ...shape, status: 'completed', progress: 100, statusMessage: 'Done' },
    ]);
  });
});
