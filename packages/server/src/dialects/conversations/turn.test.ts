import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import {
  connectAs,
  errorOf,
  joinedChunks,
  of,
  say,
  settled,
  started,
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

describe('a turn', () => {
  test('has a fixed frame order, and the concatenated chunks are the content', async () => {
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

  test('each answer has its own message id', async () => {
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

  test('reasoning is sent as workflow_thought, before the text', async () => {
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

  test('text before and after a call is one message with separated parts', async () => {
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

  test('a failed turn ends with stream_error and the cause, without message_complete', async () => {
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
