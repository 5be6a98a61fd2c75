import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
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
  tokenOf,
  turn,
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

describe('across dialects', () => {
  test('a turn started in another dialect is watched with ?session=, and its approval can be answered here', async () => {
    const token = await tokenOf(server, 'dev');
    const page = await server.connect(`/broadcast?token=${token}`);
    page.send({ type: 'chat', message: 'run touch shared', session_id: 'shared' });
    await page.next((frame) => String(frame.reasoning).startsWith('Waiting for approval'));
    const client = await connectAs(server, 'dev', '&session=shared');
    const attached = await client.until('tool_approval_required');
    const { requestId } = of(attached, 'tool_approval_required')[0]?.payload ?? {};
    answer(client, { conversationId: 'shared', requestId, approved: true });
    const frames = await turn(client);
    expect(of(frames, 'tool_executed')[0]?.payload).toMatchObject({ requestId, success: true });
    expect(joinedChunks([...attached, ...frames])).toBe(
      String(of(frames, 'message_complete')[0]?.payload.content),
    );
    await page.next('agent_message');
    page.send({ type: 'chat', message: 'count to 3', session_id: 'shared' });
    expect(of(await turn(client), 'message_complete')[0]).toMatchObject({
      conversationId: 'shared',
      payload: { content: '1 2 3' },
    });
  });

  test('a session of another dialect is not joined without a request', async () => {
    const token = await tokenOf(server, 'dev');
    const page = await server.connect(`/broadcast?token=${token}`);
    page.send({ type: 'chat', message: 'run touch unasked', session_id: 'unasked' });
    await page.next((frame) => String(frame.reasoning).startsWith('Waiting for approval'));
    const client = await connectAs(server, 'dev');
    const shown = await settled(client);
    expect(shown.filter((frame) => frame.conversationId === 'unasked')).toEqual([]);
  });

  test('a call answered in another dialect is sent here with its outcome, and an answer from here is late', async () => {
    const client = await connectAs(server, 'dev');
    const { id, requestId } = await asking(client, 'run touch elsewhere');
    const token = await tokenOf(server, 'dev');
    const page = await server.connect(`/broadcast?token=${token}`);
    page.send({ type: 'chat', message: 'no', session_id: id });
    const frames = await turn(client);
    expect(of(frames, 'tool_executed')[0]?.payload).toMatchObject({
      requestId,
      success: false,
      errorMessage: 'Tool rejected',
    });
    expect(of(frames, 'error')).toEqual([]);
    answer(client, { conversationId: id, requestId, approved: true });
    expect(await client.next('error')).toMatchObject({ payload: { code: 'tool_execute_failed' } });
  });
});

test('after a restart an answered request is still known: a late answer is tool_execute_failed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parlance-restart-'));
  const settings = { PARLANCE_DATA: join(folder, 'data'), WORKING_DIRECTORY: folder };
  const before = await startTestServer(settings);
  const client = await connectAs(before, 'dev');
  const { id, requestId } = await asking(client, 'save hello to answered.txt');
  answer(client, { conversationId: id, requestId, approved: false });
  await turn(client);
  await before.stop();
  const after = await startTestServer(settings);
  try {
    const late = await connectAs(after, 'dev');
    for (const conversationId of [id, 'another', 'temp-1']) {
      answer(late, { conversationId, requestId, approved: true });
      expect(await late.next('error')).toEqual(
        errorOf('tool_execute_failed', 'The tool request was answered already', conversationId),
      );
    }
    answer(late, { conversationId: id, requestId: crypto.randomUUID(), approved: true });
    expect(await late.next('error')).toEqual(errorOf('not_found', 'Unknown requestId', id));
  } finally {
    await after.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

test('a pending approval is shown after a restart, with the original requestId, and can be answered', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parlance-restart-'));
  const settings = { PARLANCE_DATA: join(folder, 'data'), WORKING_DIRECTORY: folder };
  const before = await startTestServer(settings);
  const client = await connectAs(before, 'dev');
  const { id, requestId } = await asking(client, 'save hello to notes.txt');
  await before.stop();
  expect((await client.closed).code).toBe(1001);
  const after = await startTestServer(settings);
  try {
    const unnamed = await connectAs(after, 'dev');
    const resumed = await unnamed.until('tool_approval_required');
    expect(resumed).toEqual([
      {
        type: 'tool_approval_required',
        conversationId: id,
        payload: {
          requestId,
          toolName: 'save_file',
          toolArgs: expect.objectContaining({ path: 'notes.txt' }),
          description: expect.stringContaining('notes.txt'),
          agentName: 'Coder',
        },
      },
    ]);
    const named = await connectAs(after, 'dev', `&session=${id}`);
    const attached = await named.until('tool_approval_required');
    expect(attached.at(-1)).toEqual(resumed[0] as never);
    answer(unnamed, { conversationId: id, requestId, approved: true });
    const frames = await turn(named);
    const { content } = of(frames, 'message_complete')[0]?.payload ?? {};
    expect(joinedChunks([...attached, ...frames])).toBe(String(content));
    expect(existsSync(join(folder, 'notes.txt'))).toBe(true);
  } finally {
    await after.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});
