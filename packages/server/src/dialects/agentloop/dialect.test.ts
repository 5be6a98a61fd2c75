import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { AnyFrame, TestClient } from '../../testing/client.ts';
import { startTestServer, type TestServer } from '../../testing/server.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});

afterAll(() => server.stop());

const input = (text: string, more: object = {}) => ({
  id: '550e8400-e29b-41d4-a716-446655440000',
  type: 'user_input',
  payload: { input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text }] }], ...more },
});

const review = (answer: string, more: object = {}) => ({
  id: '550e8400-e29b-41d4-a716-446655440001',
  type: 'approval_response',
  payload: { review: answer, customDenyMessage: null, ...more },
});

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const payload = (frame: AnyFrame | undefined) => (frame?.payload ?? {}) as Record<string, unknown>;

const assistantText = (frames: AnyFrame[]) =>
  frames
    .filter((frame) => payload(frame).type === 'message' && payload(frame).role === 'assistant')
    .map((frame) => (payload(frame).content as { text: string }[]).map((part) => part.text).join(''))
    .join('');

async function turn(client: TestClient, text: string): Promise<AnyFrame[]> {
  client.send(input(text));
  return client.until('context_info');
}

describe('context', () => {
  test('is sent on request, including before the first input', async () => {
    const client = await server.connect('/agentloop');
    client.send({ id: '550e8400-e29b-41d4-a716-446655440002', type: 'get_context_info' });
    expect(payload(await client.next('context_info'))).toMatchObject({
      transcriptLength: 0,
      maxTokens: 128_000,
    });
  });

  test('covers the same parts before and after a turn', async () => {
    const client = await server.connect('/agentloop');
    client.send({ id: '1', type: 'get_context_info' });
    const fresh = payload(await client.next('context_info'));
    const after = payload((await turn(client, 'count to 3')).at(-1));
    const grown = Number(after.tokenCount) - Number(fresh.tokenCount);
    expect(grown).toBeGreaterThan(0);
    expect(grown).toBeLessThan(50);
    client.send({ id: '2', type: 'get_context_info' });
    expect(payload(await client.next('context_info'))).toEqual(after);
  });

  test.each([
    ['fails', 'fail', ['response_item', 'error', 'loading_state', 'context_info']],
    ['is denied', 'run touch denied.txt', ['loading_state', 'agent_finished', 'context_info']],
  ])('is sent after a turn that %s', async (_, text, last) => {
    const client = await server.connect('/agentloop');
    const before = payload((await turn(client, 'count to 3')).at(-1));
    client.send(input(text));
    if (last.includes('agent_finished')) {
      await client.next('approval_request');
      client.send(review('no-exit'));
    }
    const frames = await client.until('context_info');
    expect(frames.slice(-last.length).map(({ type }) => type)).toEqual(last);
    expect(Number(payload(frames.at(-1)).tokenCount)).toBeGreaterThan(Number(before.tokenCount));
  });

  test('is compacted on demand, and becomes smaller', async () => {
    const client = await server.connect('/agentloop');
    await turn(client, 'tell me a long story');
    await turn(client, 'count to 200');
    client.send({ id: '550e8400-e29b-41d4-a716-446655440003', type: 'manual_compact' });
    const compacted = payload(await client.next('context_compacted'));
    expect(compacted).toMatchObject({
      strategy: 'ThresholdContextManager',
      reductionPercent: expect.any(Number),
    });
    expect(Number(compacted.newTokenCount)).toBeLessThan(Number(compacted.oldTokenCount));
    client.send({ id: '1', type: 'get_context_info', payload: {} });
    expect(payload(await client.next('context_info')).tokenCount).toBe(compacted.newTokenCount);
  });

  test('cannot be compacted if it is empty', async () => {
    const client = await server.connect('/agentloop');
    client.send({ id: '1', type: 'manual_compact' });
    expect(payload(await client.next('error'))).toMatchObject({ message: 'Failed to compact context' });
  });
});

describe('sessions', () => {
  test('a new socket continues from a response id', async () => {
    const first = await server.connect('/agentloop');
    first.send(input('my name is Ada'));
    const { responseId, sessionId } = payload(await first.next('agent_finished'));
    first.close();
    const second = await server.connect('/agentloop');
    second.send(input('what is my name?', { previousResponseId: responseId }));
    const frames = await second.until('agent_finished');
    expect(assistantText(frames)).toContain('Ada');
    expect(payload(frames.at(-1)).sessionId).toBe(sessionId);
  });

  test('a socket that continues the response of another session no longer receives its own', async () => {
    const elsewhere = await server.connect('/agentloop?session=followed');
    elsewhere.send(input('my name is Ada'));
    const { responseId } = payload(await elsewhere.next('agent_finished'));
    const client = await server.connect('/agentloop?session=left');
    await turn(client, 'Hello');
    client.send(input('what is my name?', { previousResponseId: responseId }));
    expect(payload(await client.next('agent_finished')).sessionId).toBe('followed');
    await client.next('context_info');
    const before = client.frames.length;

    const stays = await server.connect('/agentloop?session=left');
    await turn(stays, 'my name is Grace');
    const frames = await turn(client, 'And once more?');
    expect(client.frames.slice(before)).toEqual(frames);
    expect(
      frames.filter(({ type }) => type === 'agent_finished').map((frame) => payload(frame).sessionId),
    ).toEqual(['followed']);
  });

  test('an unknown response id is ignored', async () => {
    const client = await server.connect('/agentloop');
    client.send(input('Hello', { previousResponseId: 'resp_def456' }));
    expect((await client.until('agent_finished')).length).toBeGreaterThan(3);
  });

  test('?session= selects the session, new or existing', async () => {
    const first = await server.connect('/agentloop?session=named-here');
    first.send(input('my name is Grace'));
    expect(payload(await first.next('agent_finished')).sessionId).toBe('named-here');
    const second = await server.connect('/agentloop?session=named-here');
    expect(assistantText(await turn(second, 'what is my name?'))).toContain('Grace');
  });

  test('a socket that attaches receives the pending approval at once and can answer it', async () => {
    const first = await server.connect('/agentloop?session=pending');
    first.send(input('run touch pending.txt'));
    const { requestId } = payload(await first.next('approval_request'));
    first.close();
    const second = await server.connect('/agentloop?session=pending');
    const [loading, said, request] = await second.until('approval_request');
    expect(loading).toMatchObject({ type: 'loading_state', payload: { loading: true } });
    // The text of the turn before the approval.
    expect(assistantText([said as AnyFrame])).toContain('touch pending.txt');
    expect(payload(request as AnyFrame).requestId).toBe(requestId);
    second.send(review('yes'));
    await second.next('agent_finished');
    expect(existsSync(join(server.root, 'pending.txt'))).toBe(true);
  });

  test('a second socket receives the turn of another, with the message that started it', async () => {
    const watcher = await server.connect('/agentloop?session=watched');
    const sender = await server.connect('/agentloop?session=watched');
    sender.send(input('echo watched'));
    const [loading, message] = await watcher.until('response_item');
    expect(loading?.type).toBe('loading_state');
    expect(payload(message)).toMatchObject({ role: 'user', content: [{ text: 'echo watched' }] });
    const own = await sender.until('context_info');
    expect(own.some((frame) => payload(frame).role === 'user')).toBe(false);
    await watcher.next('agent_finished');
  });

  test('a disconnect does not stop the turn', async () => {
    const client = await server.connect('/agentloop?session=left');
    client.send(input('run touch left.txt'));
    await client.next('approval_request');
    client.close();
    await client.closed;
    const again = await server.connect('/agentloop?session=left');
    await again.next('approval_request');
  });
});

describe('invalid messages get an error, and the socket stays open', () => {
  const cases: [string, unknown, string][] = [
    ['a number', 5, 'Invalid message format'],
    ['an array', [], 'Invalid message format'],
    ['null', null, 'Invalid message format'],
    ['no id', { type: 'user_input', payload: { input: [] } }, 'Invalid message format'],
    ['no type', { id: '1' }, 'Invalid message format'],
    ['an unknown type', { id: '1', type: 'dance' }, 'Unknown message type: dance'],
    ['no payload', { id: '1', type: 'user_input' }, 'Invalid message format'],
    [
      'input that is not a list',
      { id: '1', type: 'user_input', payload: { input: 'hi' } },
      'Invalid message format',
    ],
    ['an empty message', input('   '), 'Failed to process user input'],
    [
      'no message at all',
      { id: '1', type: 'user_input', payload: { input: [] } },
      'Failed to process user input',
    ],
    ['an unknown review', review('maybe'), 'Invalid message format'],
  ];
  for (const [name, frame, message] of cases) {
    test(name, async () => {
      const client = await server.connect('/agentloop');
      client.socket.send(JSON.stringify(frame));
      const error = await client.next('error');
      expect(error.id as string).toMatch(UUID);
      expect(payload(error).message).toBe(message);
      client.send({ id: '1', type: 'get_context_info' });
      await client.next('context_info');
    });
  }

  test('unreadable frames get an error: not JSON, not UTF-8, too large', async () => {
    const small = await startTestServer({ PARLANCE_MAX_FRAME: '2000' });
    const client = await small.connect('/agentloop');
    client.socket.send('{"id": ');
    client.socket.send(new Uint8Array([0x22, 0xff, 0xfe, 0x22]));
    client.socket.send(JSON.stringify(input('x'.repeat(3000))));
    for (const reason of ['JSON', 'UTF-8', 'larger']) {
      const error = payload(await client.next('error'));
      expect(error).toMatchObject({
        message: 'Invalid message format',
        details: { error: expect.stringContaining(reason) },
      });
    }
    client.send(input('Hello'));
    await client.next('agent_finished');
    const listed = (await (await fetch(`${small.http}/v1/sessions`)).json()) as { sessions: unknown[] };
    expect(listed.sessions).toHaveLength(1);
    await small.stop();
  });
});

test('if a token is required, a socket without one is closed with 1008', async () => {
  const locked = await startTestServer({ PARLANCE_AUTH: 'required' });
  const client = await locked.connect('/agentloop');
  expect((await client.closed).code).toBe(1008);
  await locked.stop();
});

test('the extra listener and the root path serve it too', async () => {
  const listeners = await startTestServer({ PARLANCE_LISTEN: 'agentloop=0' });
  const listener = listeners.running.listeners[0]?.port;
  const client = await (await import('../../testing/client.ts')).TestClient.connect(
    `ws://127.0.0.1:${listener}/any/path`,
  );
  client.send(input('Hello'));
  await client.next('agent_finished');
  const root = await listeners.connect('/');
  root.send(input('Hello'));
  await root.next('agent_finished');
  client.close();
  await listeners.stop();
});
