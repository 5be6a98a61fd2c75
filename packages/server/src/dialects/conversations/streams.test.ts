import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
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
  typesOf,
} from '../../testing/conversations.ts';
import { startTestServer, type TestServer } from '../../testing/server.ts';

/** Slow enough for tests to act in the middle of an answer. */
const SLOW = { PARLANCE_OFFLINE_DELAY: '3' };
const NUMBERS = (last: number) => Array.from({ length: last }, (_, index) => index + 1).join(' ');

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer(SLOW);
});
afterAll(() => server.stop());

test('two conversations stream concurrently on one socket', async () => {
  const client = await connectAs(server, 'uma');
  const [first, second] = [await started(client), await started(client, 'social_chat')];
  say(client, first, 'count to 60');
  say(client, second, 'count to 60');
  await client.next('workflow_step_complete');
  await client.next('workflow_step_complete');
  const order = client.frames.filter((frame) => frame.type === 'message_chunk').map((f) => f.conversationId);
  expect(order.indexOf(second)).toBeLessThan(order.lastIndexOf(first));
  expect(order.indexOf(first)).toBeLessThan(order.lastIndexOf(second));
  for (const id of [first, second]) expect(joinedChunks(client.frames, id)).toBe(NUMBERS(60));
  const agents = of(client.frames, 'message_complete').map((frame) => [
    frame.conversationId,
    frame.payload.agentId,
  ]);
  expect(new Map(agents as [string, string][])).toEqual(
    new Map([
      [first, 'coder'],
      [second, 'empath'],
    ]),
  );
});

test('PING is answered during a stream', async () => {
  const client = await connectAs(server, 'uma');
  const id = await started(client);
  say(client, id, 'count to 200');
  await client.next('message_chunk');
  const frames = await settled(client);
  expect(typesOf(frames)).not.toContain('message_complete');
  client.send({ type: 'cancel_stream', conversationId: id });
  await client.next('error');
});

test('a second message cancels the first, then is answered', async () => {
  const client = await connectAs(server, 'uma');
  const id = await started(client);
  say(client, id, 'count to 200');
  const { messageId } = (await next(client, 'message_chunk')).payload;
  say(client, id, 'count to 4');
  const frames = (await turn(client, id)).filter((frame) => frame.conversationId === id);
  expect(of(frames, 'error')).toEqual([errorOf('cancelled', 'Stream cancelled', id)] as never);
  const complete = of(frames, 'message_complete');
  expect(complete.map((frame) => frame.payload.content)).toEqual(['1 2 3 4']);
  expect(complete[0]?.payload.messageId).not.toBe(messageId);
  const after = frames.slice(frames.findIndex((frame) => frame.type === 'error') + 1);
  expect(joinedChunks(after)).toBe('1 2 3 4');
});

describe('cancel_stream', () => {
  test('sends cancelled once to every socket and nothing more; a second cancel is an error', async () => {
    const client = await connectAs(server, 'uma');
    const id = await started(client);
    say(client, id, 'count to 200');
    await client.next('message_chunk');
    const other = await connectAs(server, 'uma', `&session=${id}`);
    await other.next('message_chunk');
    client.send({ type: 'cancel_stream', conversationId: id });
    client.send({ type: 'cancel_stream', conversationId: id });
    expect(await client.next('error')).toEqual(errorOf('cancelled', 'Stream cancelled', id));
    expect(await client.until('error')).toEqual([errorOf('not_found', 'No active stream', id)]);
    expect(await settled(client)).toEqual([{ type: 'PONG' }]);
    expect(await other.next('error')).toEqual(errorOf('cancelled', 'Stream cancelled', id));
    expect(await settled(other)).toEqual([{ type: 'PONG' }]);
    say(client, id, 'count to 2');
    expect(of(await turn(client, id), 'message_complete')[0]?.payload.content).toBe('1 2');
  });

  test('a socket outside of the conversation receives the result of its own cancel', async () => {
    const token = await tokenOf(server, 'uma');
    const page = await server.connect(`/broadcast?token=${token}`);
    page.send({ type: 'chat', message: 'count to 200', session_id: 'long' });
    await page.next('user_message');
    const client = await connectAs(server, 'uma');
    client.send({ type: 'cancel_stream', conversationId: 'long' });
    expect(await client.next('error')).toEqual(errorOf('cancelled', 'Stream cancelled', 'long'));
  });
});

describe('reconnecting during a stream', () => {
  test('a socket that joins after several blocks receives all of them', async () => {
    const client = await connectAs(server, 'uma');
    const id = await started(client);
    say(client, id, `echo ${NUMBERS(300)}`);
    await client.next('tool_executed');
    await client.next('message_chunk');
    const again = await connectAs(server, 'uma', `&session=${id}`);
    const frames = await turn(again, id);
    const complete = of(frames, 'message_complete').find((frame) => frame.conversationId === id);
    const { content } = complete?.payload ?? {};
    expect(String(content)).toContain('\n\n');
    expect(joinedChunks(frames, id)).toBe(String(content));
    await turn(client, id);
    expect(joinedChunks(client.frames, id)).toBe(String(content));
  });

  test('another user receives nothing of it', async () => {
    const client = await connectAs(server, 'uma');
    const id = await started(client);
    say(client, id, 'count to 100');
    await client.next('message_chunk');
    for (const name of ['dev', 'ada']) {
      const other = await connectAs(server, name);
      expect(await settled(other)).toEqual([{ type: 'PONG' }]);
    }
  });

  test('an admin can watch it with ?session=', async () => {
    const client = await connectAs(server, 'uma');
    const id = await started(client);
    await tokenOf(server, 'ada');
    say(client, id, 'count to 300');
    await client.next('message_chunk');
    const ada = await connectAs(server, 'ada', `&session=${id}`);
    expect(joinedChunks(await turn(ada, id), id)).toBe(NUMBERS(300));
  });
});

test('an answer interrupted by a restart continues: the unfinished block is repeated, earlier ones are not', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parlance-restart-'));
  const settings = { ...SLOW, PARLANCE_DATA: join(folder, 'data'), WORKING_DIRECTORY: folder };
  const before = await startTestServer(settings);
  const client = await connectAs(before, 'uma');
  const id = await started(client);
  say(client, id, `echo ${NUMBERS(300)}`);
  const first = await client.until('tool_executed');
  const { messageId } = (await next(client, 'message_chunk')).payload;
  await before.stop();
  const after = await startTestServer(settings);
  try {
    const again = await connectAs(after, 'uma');
    const frames = await turn(again, id);
    const complete = of(frames, 'message_complete')[0];
    expect(complete).toMatchObject({ conversationId: id, payload: { messageId } });
    expect(joinedChunks(first, id)).not.toBe('');
    expect(joinedChunks([...first, ...frames], id)).toBe(String(complete?.payload.content));
  } finally {
    await after.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});
