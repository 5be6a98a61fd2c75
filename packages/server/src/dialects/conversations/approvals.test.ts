import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestClient } from '../../testing/client.ts';
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

/** A conversation with a pending approval. */
async function asking(client: TestClient, content: string): Promise<{ id: string; requestId: string }> {
  const id = await started(client);
  say(client, id, content);
  const { payload } = await next(client, 'tool_approval_required');
  return { id, requestId: String(payload.requestId) };
}

describe('approve_tool', () => {
  test('the examples of the contract: requested, approved, executed, answered', async () => {
    const client = await connectAs(server, 'dev');
    const conversationId = await started(client);
    say(client, conversationId, 'run touch approved');
    const asked = await next(client, 'tool_approval_required');
    expect(asked).toEqual({
      type: 'tool_approval_required',
      conversationId,
      payload: {
        requestId: UUID,
        toolName: 'shell',
        toolArgs: { command: ['touch', 'approved'] },
        description: expect.stringContaining('touch approved'),
        agentName: 'Coder',
      },
    });
    const { requestId } = asked.payload;
    client.send({
      type: 'approve_tool',
      conversationId,
      requestId,
      payload: { approved: true, reason: 'optional rejection reason' },
    });
    const frames = await turn(client);
    expect(of(frames, 'tool_executed')).toEqual([
      {
        type: 'tool_executed',
        conversationId,
        payload: {
          requestId,
          toolName: 'shell',
          result: expect.any(Object),
          success: true,
          errorMessage: null,
        },
      },
    ]);
    expect(typesOf(frames)).toEqual([
      'tool_executed',
      'message_chunk',
      'message_complete',
      'workflow_step_complete',
    ]);
    expect(joinedChunks(client.frames)).toBe(String(of(frames, 'message_complete')[0]?.payload.content));
    expect(existsSync(join(server.root, 'approved'))).toBe(true);
  });

  test('rejected with a reason: every socket gets tool_executed, the sender also an error, and the turn continues', async () => {
    const client = await connectAs(server, 'dev');
    const { id, requestId } = await asking(client, 'save hello to rejected.txt');
    const other = await connectAs(server, 'dev', `&session=${id}`);
    await next(other, 'tool_approval_required');
    answer(client, { conversationId: id, requestId, approved: false, reason: 'not today' });
    const executed = {
      type: 'tool_executed',
      conversationId: id,
      payload: {
        requestId,
        toolName: 'save_file',
        result: expect.any(Object),
        success: false,
        errorMessage: 'not today',
      },
    };
    expect(await next(client, 'tool_executed')).toEqual(executed);
    expect(await client.next('error')).toEqual(errorOf('rejected', 'Tool rejected', id));
    const seen = await turn(other);
    expect(of(seen, 'tool_executed')).toEqual([executed]);
    expect(of(seen, 'error')).toEqual([]);
    expect(existsSync(join(server.root, 'rejected.txt'))).toBe(false);
  });

  test.each([[undefined], [null], [''], ['  ']])('rejected with the reason %p', async (reason) => {
    const client = await connectAs(server, 'dev');
    const { id, requestId } = await asking(client, 'run touch never');
    answer(client, { conversationId: id, requestId, approved: false, reason });
    expect((await next(client, 'tool_executed')).payload).toMatchObject({
      success: false,
      errorMessage: 'Tool rejected',
    });
    expect(await client.next('error')).toEqual(errorOf('rejected', 'Tool rejected', id));
  });

  test('approved, then failed: tool_executed without success, and tool_execute_failed', async () => {
    const client = await connectAs(server, 'dev');
    mkdirSync(join(server.root, 'folder'));
    const { id, requestId } = await asking(client, '/tool save_file {"path":"folder","content":"x"}');
    const other = await connectAs(server, 'dev', `&session=${id}`);
    await next(other, 'tool_approval_required');
    answer(client, { conversationId: id, requestId, approved: true });
    const message = 'The path folder is not a file.';
    for (const socket of [client, other]) {
      expect(await next(socket, 'tool_executed')).toEqual({
        type: 'tool_executed',
        conversationId: id,
        payload: {
          requestId,
          toolName: 'save_file',
          result: { output: message },
          success: false,
          errorMessage: message,
        },
      });
      expect(await socket.next('error')).toEqual(errorOf('tool_execute_failed', message, id));
    }
  });

  test('the first answer wins; a late one is tool_execute_failed', async () => {
    const client = await connectAs(server, 'dev');
    const { id, requestId } = await asking(client, 'run touch once');
    const late = await connectAs(server, 'dev', `&session=${id}`);
    await next(late, 'tool_approval_required');
    answer(client, { conversationId: id, requestId, approved: true });
    await turn(client);
    await turn(late);
    for (const approved of [false, true]) {
      answer(late, { conversationId: id, requestId, approved });
      expect(await late.next('error')).toEqual(
        errorOf('tool_execute_failed', 'The tool request was answered already', id),
      );
    }
    expect(of(await settled(client), 'tool_executed')).toEqual([]);
  });

  test('an unknown request does not affect the pending one', async () => {
    const client = await connectAs(server, 'dev');
    const { id, requestId } = await asking(client, 'run touch waits');
    answer(client, { conversationId: id, requestId: crypto.randomUUID(), approved: true });
    expect(await client.next('error')).toEqual(errorOf('not_found', 'Unknown requestId', id));
    answer(client, { conversationId: id, requestId, approved: true });
    expect((await next(client, 'tool_executed')).payload.success).toBe(true);
  });

  test.each([
    ['of another conversation', 'other'],
    ['unknown', 'nowhere'],
    ['none', undefined],
  ])('only the request id selects the approval; the conversationId is %s', async (_, given) => {
    const client = await connectAs(server, 'dev');
    const { id, requestId } = await asking(client, 'save hello to by-request.txt');
    const other = await asking(client, 'run touch not-this');
    const conversationId = given === 'other' ? other.id : given;
    client.send({ type: 'approve_tool', conversationId, requestId, payload: { approved: false } });
    expect(await next(client, 'tool_executed')).toMatchObject({ conversationId: id, payload: { requestId } });
    expect(await client.next('error')).toEqual(errorOf('rejected', 'Tool rejected', id));
    await turn(client, id);
    client.send({ type: 'approve_tool', conversationId, requestId, payload: { approved: true } });
    expect(await client.next('error')).toEqual(
      errorOf('tool_execute_failed', 'The tool request was answered already', conversationId),
    );
    answer(client, { conversationId: other.id, requestId: other.requestId, approved: false });
    await turn(client, other.id);
  });

  test('a refused answer does not attach the socket to the conversation', async () => {
    const client = await connectAs(server, 'dev');
    const { id, requestId } = await asking(client, 'run touch quietly');
    answer(client, { conversationId: id, requestId, approved: true });
    await turn(client);
    const late = await connectAs(server, 'dev');
    answer(late, { conversationId: id, requestId, approved: true });
    await late.next('error');
    late.send({ type: 'cancel_stream', conversationId: id });
    await late.next('error');
    say(client, id, 'count to 3');
    await turn(client);
    expect(await settled(late)).toEqual([{ type: 'PONG' }]);
  });

  test('a request of another user is unknown, with any conversationId', async () => {
    const uma = await connectAs(server, 'uma');
    const { id, requestId } = await asking(uma, 'run touch foreign');
    const dev = await connectAs(server, 'dev');
    const own = await started(dev);
    for (const conversationId of [id, own])
      for (const approved of [true, false]) {
        answer(dev, { conversationId, requestId, approved });
        expect(await dev.next('error')).toEqual(errorOf('not_found', 'Unknown requestId', conversationId));
      }
    expect(existsSync(join(server.root, 'foreign'))).toBe(false);
  });

  test('a user can request a tool but neither approve nor reject it; an admin can answer', async () => {
    const uma = await connectAs(server, 'uma');
    const { id, requestId } = await asking(uma, 'run touch by-uma');
    answer(uma, { conversationId: id, requestId, approved: true });
    expect(await uma.next('error')).toEqual(errorOf('forbidden', 'Missing permission: tool:approve', id));
    answer(uma, { conversationId: id, requestId, approved: false, reason: 'no' });
    expect(await uma.next('error')).toEqual(errorOf('forbidden', 'Missing permission: tool:reject', id));
    expect(existsSync(join(server.root, 'by-uma'))).toBe(false);
    const ada = await connectAs(server, 'ada');
    answer(ada, { conversationId: id, requestId, approved: true });
    expect((await next(ada, 'tool_executed')).payload).toMatchObject({ requestId, success: true });
    expect((await next(uma, 'tool_executed')).payload).toMatchObject({ requestId, success: true });
    await turn(uma);
    expect(existsSync(join(server.root, 'by-uma'))).toBe(true);
  });

  test('a cancelled approval is resolved for everyone', async () => {
    const client = await connectAs(server, 'dev');
    const { id, requestId } = await asking(client, 'run touch cancelled');
    client.send({ type: 'cancel_stream', conversationId: id });
    const frames = await client.until('error');
    expect(of(frames, 'tool_executed')[0]?.payload).toMatchObject({ requestId, success: false });
    expect(frames.at(-1)).toEqual(errorOf('cancelled', 'Stream cancelled', id));
    answer(client, { conversationId: id, requestId, approved: true });
    expect(await client.next('error')).toMatchObject({ payload: { code: 'tool_execute_failed' } });
  });
});
