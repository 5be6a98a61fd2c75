import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { TestClient } from '../../testing/client.ts';
import {
  answer,
  connectAs,
  errorOf,
  next,
  type ServerFrame,
  say,
  settled,
  started,
  tokenOf,
  turn,
  typesOf,
  UUID,
} from '../../testing/conversations.ts';
import { startTestServer, type TestServer } from '../../testing/server.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});

afterAll(() => server.stop());

describe('/tool', () => {
  /** The frame that ends a direct call, after its only chunk, and the message with that id over REST. */
  async function completed(client: TestClient, name: string): Promise<[ServerFrame, unknown]> {
    const frames = (await client.until('message_complete')) as ServerFrame[];
    const complete = frames.at(-1) as ServerFrame;
    const { messageId, content, agentName } = complete.payload;
    expect(frames.filter(({ type }) => type === 'message_chunk')).toEqual([
      {
        type: 'message_chunk',
        conversationId: complete.conversationId,
        payload: { messageId, chunk: content, agentName },
      },
    ]);
    const path = `/v1/conversations/${complete.conversationId}/messages?token=${await tokenOf(server, name)}`;
    const messages = (await (await fetch(server.http + path)).json()) as { id: string }[];
    return [complete, messages.find(({ id }) => id === complete.payload.messageId)];
  }

  test('tool_executed is followed by message_chunk and message_complete with the result as content', async () => {
    const client = await connectAs(server, 'uma');
    const conversationId = await started(client);
    say(client, conversationId, '/tool echo {"value": "hello there"}');
    const { payload } = await next(client, 'tool_executed');
    expect(payload).toMatchObject({ result: { value: 'hello there' }, success: true });
    const [complete, message] = await completed(client, 'uma');
    expect(complete).toEqual({
      type: 'message_complete',
      conversationId,
      payload: {
        messageId: UUID,
        content: 'hello there',
        agentId: 'coder',
        agentName: 'Coder',
        metadata: { tokenCount: 0, durationMs: expect.any(Number) },
      },
    });
    expect(message).toMatchObject({ role: 'assistant', content: 'hello there', agent_id: 'coder' });
    expect(await settled(client)).toEqual([{ type: 'PONG' }]);
  });

  test.each([
    ['approved', true, undefined, /ended\.txt/],
    ['rejected', false, 'not today', /^not today$/],
    ['rejected without a reason', false, undefined, /^Tool rejected$/],
  ])('a request that was %s also ends with message_complete', async (...[, approved, reason, content]) => {
    const client = await connectAs(server, 'dev');
    const conversationId = await started(client);
    say(client, conversationId, '/tool save_file {"path":"ended.txt","content":"hello"}');
    const { requestId } = (await next(client, 'tool_approval_required')).payload;
    answer(client, { conversationId, requestId, approved, reason });
    expect((await next(client, 'tool_executed')).payload).toMatchObject({ requestId, success: approved });
    const [complete, message] = await completed(client, 'dev');
    expect(complete.payload.content).toMatch(content);
    expect(message).toMatchObject({ content: complete.payload.content });
  });

  test('a failed request ends with message_complete and the reason', async () => {
    const client = await connectAs(server, 'uma');
    const conversationId = await started(client);
    say(client, conversationId, '/tool read_file {"path":"nowhere.txt"}');
    const { errorMessage } = (await next(client, 'tool_executed')).payload;
    const [complete, message] = await completed(client, 'uma');
    expect(complete.payload.content).toBe(errorMessage);
    expect(message).toMatchObject({ content: errorMessage });
  });

  test('a tool without approval runs, and no agent answers', async () => {
    const client = await connectAs(server, 'uma');
    const conversationId = await started(client);
    say(client, conversationId, '/tool echo {"value": {"a": [1, null]}}');
    const executed = await client.until('tool_executed');
    expect(executed).toEqual([
      {
        type: 'tool_executed',
        conversationId,
        payload: {
          requestId: expect.stringMatching(/^call_/),
          toolName: 'echo',
          result: { value: { a: [1, null] } },
          success: true,
          errorMessage: null,
        },
      },
    ]);
    say(client, conversationId, 'count to 2');
    const [, complete, selected] = typesOf(await turn(client));
    expect([complete, selected]).toEqual(['message_complete', 'agent_selected']);
  });

  test('save_file requests approval, and then writes under the working directory', async () => {
    const client = await connectAs(server, 'dev');
    const conversationId = await started(client);
    say(client, conversationId, '/tool save_file {"path":"direct.txt","content":"hello"}');
    const [asked, ...others] = await client.until('tool_approval_required');
    expect(others).toEqual([]);
    expect(asked).toEqual({
      type: 'tool_approval_required',
      conversationId,
      payload: {
        requestId: UUID,
        toolName: 'save_file',
        toolArgs: { path: 'direct.txt', content: 'hello' },
        description: 'Creates the file direct.txt (5 bytes).',
        agentName: 'Coder',
      },
    });
    const { requestId } = (asked as unknown as { payload: { requestId: string } }).payload;
    expect(existsSync(join(server.root, 'direct.txt'))).toBe(false);
    client.send({ type: 'approve_tool', conversationId, requestId, payload: { approved: true } });
    expect(await next(client, 'tool_executed')).toMatchObject({
      payload: { requestId, toolName: 'save_file', success: true, errorMessage: null },
    });
    expect(await Bun.file(join(server.root, 'direct.txt')).text()).toBe('hello');
  });

  test.each([
    ['an unknown tool', '/tool nothing {}'],
    ['a parameter that is missing', '/tool echo {}'],
    ['a parameter of the wrong type', '/tool save_file {"path":1,"content":"x"}'],
    ['a path that is absolute', '/tool save_file {"path":"/etc/x","content":"x"}'],
    ['a path that leaves the working directory', '/tool save_file {"path":"../x","content":"x"}'],
    ['malformed JSON', '/tool echo {"value":'],
    ['malformed JSON in braces', '/tool echo {value}'],
    ['an array', '/tool echo [1]'],
    ['an infinite number', '/tool echo {"value":1e999}'],
    ['a deeply nested value', `/tool echo {"value":${'['.repeat(50_000)}${']'.repeat(50_000)}}`],
    ['no parameters', '/tool echo'],
    ['no tool', '/tool'],
  ])('%s is tool_request_failed, and nothing is stored', async (_, content) => {
    const client = await connectAs(server, 'uma');
    const conversationId = `temp-${crypto.randomUUID()}`;
    say(client, conversationId, content);
    expect(await client.next('error')).toEqual(
      errorOf('tool_request_failed', expect.stringMatching(/\S/) as never, conversationId),
    );
    const token = await tokenOf(server, 'uma');
    const found = await fetch(`${server.http}/v1/conversations/${conversationId}?token=${token}`);
    expect(found.status).toBe(404);
  });

  test('a missing parameter is named', async () => {
    const client = await connectAs(server, 'uma');
    const conversationId = `temp-${crypto.randomUUID()}`;
    say(client, conversationId, '/tool echo {"v":1}');
    expect(await client.next('error')).toEqual(
      errorOf('tool_request_failed', 'Invalid parameters for echo: value: is required', conversationId),
    );
  });

  test('a message that only starts like a direct call is a message', async () => {
    const client = await connectAs(server, 'uma');
    say(client, 'temp-toolbox', '/toolbox');
    expect(typesOf(await turn(client))).toContain('message_complete');
  });
});
