import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { TestClient } from '../../testing/client.ts';
import { startTestServer, type TestServer } from '../../testing/server.ts';
import {
  answer,
  connectAs,
  errorOf,
  joinedChunks,
  next,
  of,
  say,
  settled,
  started,
  type Told,
  tokenOf,
  turn,
  typesOf,
  UUID,
} from './test-chat.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

describe('connecting', () => {
  test('nothing is said on connect, and PING is answered by exactly PONG', async () => {
    const client = await connectAs(server, 'uma');
    expect(await settled(client)).toEqual([{ type: 'PONG' }]);
  });

  test('the token may come as Authorization: Bearer', async () => {
    const token = await tokenOf(server, 'uma');
    const client = await server.connect('/ws', { authorization: `Bearer ${token}` });
    expect(await settled(client)).toEqual([{ type: 'PONG' }]);
  });

  test('a bad token is accepted and closed with 1008', async () => {
    for (const path of ['/ws?token=not-a-token', '/conversations?token=not-a-token']) {
      const client = await server.connect(path);
      expect((await client.closed).code).toBe(1008);
    }
  });

  test('no token is accepted and closed with 1008, in open mode too', async () => {
    const client = await server.connect('/conversations');
    expect((await client.closed).code).toBe(1008);
    expect(client.frames).toEqual([]);
  });

  test('no token on the shared path is closed with 1008 at the first frame of this contract', async () => {
    const client = await server.connect('/ws');
    client.send({ type: 'PING' });
    expect((await client.closed).code).toBe(1008);
    expect(client.frames).toEqual([]);
  });

  test('a door of its own speaks it on every path, and wants a token too', async () => {
    const other = await startTestServer({ PARLANCE_DOORS: 'conversations=0' });
    try {
      const port = other.running.doors[0]?.port;
      const token = await other.login('uma', 'uma-password');
      const url = `ws://127.0.0.1:${port}/any/path`;
      const { TestClient } = await import('../../testing/client.ts');
      const client = await TestClient.connect(`${url}?token=${token}`);
      expect(await settled(client)).toEqual([{ type: 'PONG' }]);
      client.close();
      const nobody = await TestClient.connect(url);
      expect((await nobody.closed).code).toBe(1008);
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
  ])('%s begins with %s', async (domainId, activeAgent) => {
    const client = await connectAs(server, 'uma');
    client.send({ type: 'start_conversation', payload: { domainId } });
    expect(await next(client, 'conversation_started')).toMatchObject({ payload: { domainId, activeAgent } });
  });
});

describe('a turn', () => {
  test('comes in the order of the field, and the chunks joined are the content', async () => {
    const client = await connectAs(server, 'uma');
    const conversationId = await started(client);
    say(client, conversationId, '  Hello, help me with...  ');
    const frames = await turn(client);
    expect(typesOf(frames)).toEqual([
      'agent_selected',
      'workflow_step_start',
      'message_chunk',
      'message_complete',
      'workflow_step_complete',
    ]);
    expect(frames[0]).toEqual({
      type: 'agent_selected',
      conversationId,
      agent_id: 'coder',
      agent_name: 'Coder',
    } as never);
    expect(frames[1]).toEqual({
      type: 'workflow_step_start',
      conversationId,
      payload: {
        agentId: 'coder',
        agentName: 'Coder',
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      },
    });
    const complete = of(frames, 'message_complete');
    const { messageId, content } = complete[0]?.payload ?? {};
    expect(frames[2]).toEqual({
      type: 'message_chunk',
      conversationId,
      payload: { messageId, chunk: expect.any(String), agentName: 'Coder' },
    });
    expect(complete).toEqual([
      {
        type: 'message_complete',
        conversationId,
        payload: {
          messageId: UUID,
          content: expect.stringMatching(/\S/),
          agentId: 'coder',
          agentName: 'Coder',
          metadata: { tokenCount: expect.any(Number), durationMs: expect.any(Number) },
        },
      },
    ]);
    expect(frames.at(-1)).toEqual({
      type: 'workflow_step_complete',
      conversationId,
      payload: {
        agentId: 'coder',
        agentName: 'Coder',
        durationMs: expect.any(Number),
        tokenCount: expect.any(Number),
      },
    });
    expect(joinedChunks(frames)).toBe(String(content));
    const ids = new Set(of(frames, 'message_chunk').map((frame) => frame.payload.messageId));
    expect([...ids]).toEqual([messageId]);
  });

  test('each answer has a message id of its own', async () => {
    const client = await connectAs(server, 'uma');
    const conversationId = await started(client);
    say(client, conversationId, 'count to 3');
    const first = of(await turn(client), 'message_complete')[0];
    say(client, conversationId, 'count to 3');
    const second = of(await turn(client), 'message_complete')[0];
    expect(first?.payload.content).toBe('1 2 3');
    expect(second?.payload.content).toBe('1 2 3');
    expect(first?.payload.messageId).not.toBe(second?.payload.messageId);
  });

  test('reasoning is told as workflow_thought, before the text', async () => {
    const client = await connectAs(server, 'uma');
    const conversationId = await started(client);
    say(client, conversationId, 'think about lighthouses');
    const frames = await turn(client);
    expect(typesOf(frames).slice(0, 4)).toEqual([
      'agent_selected',
      'workflow_step_start',
      'workflow_thought',
      'message_chunk',
    ]);
    expect(of(frames, 'workflow_thought')).toEqual([
      {
        type: 'workflow_thought',
        conversationId,
        payload: { agentId: 'coder', agentName: 'Coder', reason: expect.stringContaining('lighthouses') },
      },
    ]);
  });

  test('text before and after a call is one message, its parts set apart', async () => {
    const client = await connectAs(server, 'uma');
    const conversationId = await started(client);
    say(client, conversationId, 'echo hi');
    const frames = await turn(client);
    const content = String(of(frames, 'message_complete')[0]?.payload.content);
    expect(content).toContain('\n\n');
    expect(joinedChunks(frames)).toBe(content);
    expect(of(frames, 'tool_executed')).toEqual([
      {
        type: 'tool_executed',
        conversationId,
        payload: {
          requestId: expect.stringMatching(/^call_/),
          toolName: 'echo',
          result: { value: 'hi' },
          success: true,
          errorMessage: null,
        },
      },
    ]);
  });

  test('a handoff closes the step of one agent and opens that of the next', async () => {
    const client = await connectAs(server, 'uma');
    const conversationId = await started(client);
    say(client, conversationId, 'hand off to the tester');
    const before = await client.until('workflow_step_complete');
    const after = await turn(client);
    expect(typesOf(before)).toEqual([
      'agent_selected',
      'workflow_step_start',
      'message_chunk',
      'tool_executed',
      'workflow_step_complete',
    ]);
    expect(before.at(-1)).toMatchObject({ payload: { agentId: 'coder', agentName: 'Coder' } });
    expect(typesOf(after)).toEqual([
      'workflow_handoff',
      'agent_selected',
      'workflow_step_start',
      'message_chunk',
      'message_complete',
      'workflow_step_complete',
    ]);
    expect(after[0]).toEqual({
      type: 'workflow_handoff',
      conversationId,
      payload: {
        fromAgent: 'Coder',
        toAgent: 'Tester',
        fromAgentId: 'coder',
        toAgentId: 'tester',
        reason: 'The user asked for the tester.',
      },
    });
    expect(after[1]).toMatchObject({ agent_id: 'tester', agent_name: 'Tester' });
    const complete = of(after, 'message_complete')[0];
    expect(complete?.payload).toMatchObject({ agentId: 'tester', agentName: 'Tester' });
    expect(joinedChunks([...before, ...after])).toBe(String(complete?.payload.content));
    expect(after.at(-1)).toMatchObject({ payload: { agentId: 'tester' } });
  });

  test('a turn that fails ends in stream_error with the cause, and no message_complete', async () => {
    const client = await connectAs(server, 'uma');
    const conversationId = await started(client);
    say(client, conversationId, 'fail');
    const frames = await client.until('error');
    expect(frames.at(-1)).toEqual(
      errorOf(
        'stream_error',
        'This failure was simulated on request by the offline model; nothing is wrong.',
        conversationId,
      ),
    );
    const rest = await settled(client);
    expect(typesOf([...frames, ...rest])).not.toContain('message_complete');
    say(client, conversationId, 'count to 2');
    expect(of(await turn(client), 'message_complete')[0]?.payload.content).toBe('1 2');
  });
});

describe('the id of a conversation', () => {
  test('temp-… is started in the default domain and answered under that id', async () => {
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

  test('a session of the principal that another dialect began is accepted', async () => {
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

describe('/tool', () => {
  /** The frame that ends a direct request, and the message of that id over REST. */
  async function completed(client: TestClient, name: string): Promise<[Told, unknown]> {
    const complete = await next(client, 'message_complete');
    const path = `/v1/conversations/${complete.conversationId}/messages?token=${await tokenOf(server, name)}`;
    const messages = (await (await fetch(server.http + path)).json()) as { id: string }[];
    return [complete, messages.find(({ id }) => id === complete.payload.messageId)];
  }

  test('tool_executed is followed by message_complete with the result as content', async () => {
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
  ])('a request that was %s ends in message_complete too', async (_, approved, reason, content) => {
    const client = await connectAs(server, 'dev');
    const conversationId = await started(client);
    say(client, conversationId, '/tool save_file {"path":"ended.txt","content":"hello"}');
    const { requestId } = (await next(client, 'tool_approval_required')).payload;
    answer(client, conversationId, requestId, approved, reason);
    expect((await next(client, 'tool_executed')).payload).toMatchObject({ requestId, success: approved });
    const [complete, message] = await completed(client, 'dev');
    expect(complete.payload.content).toMatch(content);
    expect(message).toMatchObject({ content: complete.payload.content });
  });

  test('a request that fails ends in message_complete with the reason', async () => {
    const client = await connectAs(server, 'uma');
    const conversationId = await started(client);
    say(client, conversationId, '/tool read_file {"path":"nowhere.txt"}');
    const { errorMessage } = (await next(client, 'tool_executed')).payload;
    const [complete, message] = await completed(client, 'uma');
    expect(complete.payload.content).toBe(errorMessage);
    expect(message).toMatchObject({ content: errorMessage });
  });

  test('a tool that needs no approval runs, and no agent speaks', async () => {
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
    expect(typesOf(await turn(client)).slice(0, 2)).toEqual(['message_complete', 'agent_selected']);
  });

  test('save_file asks, and writes under the working directory once approved', async () => {
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
    ['a number that is not one', '/tool echo {"value":1e999}'],
    ['a value nested without end', `/tool echo {"value":${'['.repeat(50_000)}${']'.repeat(50_000)}}`],
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

  test('a parameter that is missing is named as missing', async () => {
    const client = await connectAs(server, 'uma');
    const conversationId = `temp-${crypto.randomUUID()}`;
    say(client, conversationId, '/tool echo {"v":1}');
    expect(await client.next('error')).toEqual(
      errorOf('tool_request_failed', 'Invalid parameters for echo: value: is required', conversationId),
    );
  });

  test('a message that merely begins like it is a message', async () => {
    const client = await connectAs(server, 'uma');
    say(client, 'temp-toolbox', '/toolbox');
    expect(typesOf(await turn(client))).toContain('message_complete');
  });
});
