/** Only the socket that holds a call can answer it. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { DurableEvent } from '../../packages/protocol/src/index.ts';
import type { AnyFrame, TestClient } from '../../packages/server/src/testing/client.ts';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { type Person, request } from './private-data.ts';

let server: TestServer;
const people = new Map<string, Person>();
beforeAll(async () => {
  server = await startTestServer({ PARLANCE_AUTH: 'required' });
  for (const name of ['ada', 'dev', 'uma'])
    people.set(name, { name, token: await server.login(name, `${name}-password`) });
});
afterAll(() => server.stop());

const tokenOf = (name: string) => people.get(name)?.token ?? '';

async function browser(name: string | null, capabilities = ['all_tools']): Promise<TestClient> {
  const client = await server.connect('/extension');
  if (name === null) return client;
  client.send({ type: 'client_registration', capabilities, sessionToken: tokenOf(name) });
  await client.next('registration_confirmed');
  return client;
}

const answer = (executionId: unknown, result: string) => ({
  id: 'msg_1_abcdefghi',
  timestamp: 1,
  type: 'tool_execution_response',
  executionId,
  success: true,
  result,
  executionTime: 1,
});
const progress = (executionId: unknown) => ({
  type: 'tool_execution_status',
  executionId,
  status: 'executing',
  progress: 50,
  statusMessage: 'forged',
});

/** Resolves with the received frames when everything sent has been processed. */
async function settled(client: TestClient): Promise<AnyFrame[]> {
  const id = crypto.randomUUID();
  client.send({ id, type: 'ping', timestamp: 1 });
  return client.until((frame) => frame.type === 'pong' && frame.id === id);
}

async function events(sessionId: string): Promise<DurableEvent[]> {
  const dev = people.get('dev');
  if (!dev) throw new Error('nobody');
  const { text } = await request(server, dev, { path: `/v1/sessions/${sessionId}/events?limit=1000` });
  return JSON.parse(text).events;
}

async function callOut(sessionId: string): Promise<{ holder: TestClient; executionId: unknown }> {
  const holder = await browser('dev');
  holder.send({ type: 'chat_message', content: 'open https://example.com/', sessionId });
  const { executionId } = await holder.next('tool_execution_request');
  return { holder, executionId };
}

test('another socket, of the same principal or of another, cannot answer', async () => {
  const sessionId = crypto.randomUUID();
  const { holder, executionId } = await callOut(sessionId);
  const before = await events(sessionId);
  for (const other of [
    await browser('dev'),
    await browser('uma'),
    await browser('ada'),
    await browser(null),
  ]) {
    other.send(answer(executionId, 'forged'));
    other.send({
      ...answer(executionId, 'forged'),
      success: false,
      error: { type: 'unknown', message: 'forged', recoverable: false },
    });
    other.send(progress(executionId));
    for (const guess of [`${executionId}_2`, '', '__proto__', 'constructor'])
      other.send(answer(guess, 'forged'));
    const received = await settled(other);
    expect(JSON.stringify(received)).not.toContain('forged');
  }
  expect(await events(sessionId)).toEqual(before);
  expect(JSON.stringify(await settled(holder))).not.toContain('forged');

  holder.send(answer(executionId, 'the page itself'));
  await holder.next('agent_response');
  const ended = (await events(sessionId)).filter((event) => event.type === 'tool.ended');
  expect(ended).toMatchObject([{ outcome: 'ok', parts: [{ text: 'the page itself' }] }]);
});

test('a repeated answer is applied once', async () => {
  const sessionId = crypto.randomUUID();
  const { holder, executionId } = await callOut(sessionId);
  holder.send(answer(executionId, 'first'));
  holder.send(answer(executionId, 'second'));
  await holder.next('agent_response');
  await settled(holder);
  const text = JSON.stringify(await events(sessionId));
  expect(text).toContain('first');
  expect(text).not.toContain('second');
});

test('a socket that changes its user loses its calls', async () => {
  const sessionId = crypto.randomUUID();
  const { holder, executionId } = await callOut(sessionId);
  holder.send({ type: 'client_registration', capabilities: ['all_tools'], sessionToken: tokenOf('uma') });
  await holder.next('registration_confirmed');
  holder.send(answer(executionId, 'forged'));
  await settled(holder);
  const watcher = await server.connect(`/agentloop?session=${sessionId}&token=${tokenOf('dev')}`);
  watcher.send({ id: '1', type: 'get_context_info' });
  await watcher.next('context_info');
  expect(JSON.stringify(await events(sessionId))).not.toContain('forged');
});
