/** Clients of version 0.3, in its own words. The official client of that version is among `npm run test:programs`. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { legacyJsonRpcToV1Method } from '@a2a-js/sdk/compat/v0_3';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { type ScriptedModel, scriptedModel } from '../scripted-model.ts';

let model: ScriptedModel;
let server: TestServer;

beforeAll(async () => {
  model = scriptedModel(({ messages }) =>
    messages.at(-1)?.role === 'user' && String(messages.at(-1)?.content).includes('touch')
      ? { call: 'shell', input: { command: ['touch', 'file'] } }
      : { say: 'Fine, and well.' },
  );
  server = await startTestServer(model.settings);
});
afterAll(async () => {
  await server.stop();
  model.stop();
});

const post = (method: string, params: object, headers: Record<string, string> = {}) =>
  fetch(`${server.http}/a2a`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }),
  });

type Answer = {
  result: { id: string; contextId: string } & Record<string, unknown>;
  error: { code: number };
};
const call = async (method: string, params: object) => (await (await post(method, params)).json()) as Answer;

const say = (text: string, about: object = {}) => ({
  message: {
    kind: 'message',
    messageId: crypto.randomUUID(),
    role: 'user',
    parts: [{ kind: 'text', text }],
    ...about,
  },
});

test('a message is answered with the task, without a wrapper', async () => {
  const { result } = await call('message/send', say('hello'));
  expect(result).toMatchObject({
    kind: 'task',
    status: { state: 'completed' },
    artifacts: [{ parts: [{ kind: 'text', text: 'Fine, and well.' }] }],
    history: [{ kind: 'message', role: 'user', parts: [{ kind: 'text', text: 'hello' }] }],
  });
  expect((await call('tasks/get', { id: result.id, historyLength: 0 })).result).not.toHaveProperty('history');
  expect((await call('tasks/cancel', { id: result.id })).error.code).toBe(-32002);
  expect((await call('tasks/resubscribe', { id: result.id })).error.code).toBe(-32004);
});

test('a message that is not waited for is answered at once', async () => {
  const { result } = await call('message/send', { ...say('hello'), configuration: { blocking: false } });
  expect(result).toMatchObject({
    kind: 'task',
    status: { state: expect.stringMatching(/^(submitted|working|completed)$/) },
  });
});

test('a stream has the kinds of 0.3, and says which event is the last', async () => {
  const response = await post('message/stream', say('hello'), { 'a2a-version': '0.3' });
  expect(response.headers.get('content-type')).toStartWith('text/event-stream');
  const events = (await response.text())
    .split('\n\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice('data: '.length)).result);
  expect(events[0]).toMatchObject({ kind: 'task' });
  const texts = events.filter(({ kind }) => kind === 'artifact-update');
  expect(texts.map(({ artifact }) => artifact.parts[0].text).join('')).toBe('Fine, and well.');
  expect(events.at(-1)).toMatchObject({ kind: 'status-update', status: { state: 'completed' }, final: true });
  expect(events.filter(({ final }) => final)).toHaveLength(1);
});

test('an approval is answered with the task that goes on', async () => {
  const { result } = await call('message/send', say('touch it'));
  expect(result.status).toMatchObject({ state: 'input-required', message: { role: 'agent' } });
  const parts = (result.status as { message: { parts: { kind: string; data?: { approval: object } }[] } })
    .message.parts;
  expect(parts[1]).toMatchObject({ kind: 'data', data: { approval: { tool: 'shell' } } });
  const answered = await call('message/send', say('yes', { taskId: result.id, contextId: result.contextId }));
  expect(answered.result).toMatchObject({ id: result.id, status: { state: 'completed' } });
});

test('files and data come and go in the form of 0.3', async () => {
  const parts = [
    { kind: 'file', file: { bytes: 'aGk=', mimeType: 'text/plain', name: 'a.txt' } },
    { kind: 'file', file: { uri: 'https://example.com/b.txt', name: 'b.txt' } },
    { kind: 'data', data: { x: 1 } },
  ];
  const { result } = await call('message/send', say('', { parts }));
  expect(result).toMatchObject({
    history: [{ parts: [{ kind: 'text', text: '[a.txt]' }, parts[1], parts[2]] }],
  });
  const empty = await call('message/send', say('', { parts: [{ kind: 'image' }] }));
  expect(empty.error.code).toBe(-32602);
});

test('every method of 0.3 is known, and none with the name of another version', async () => {
  const methods = ['message/send', 'message/stream', 'tasks/get', 'tasks/cancel', 'tasks/resubscribe'];
  for (const method of methods) {
    expect(legacyJsonRpcToV1Method(method)).toBeString();
    expect((await call(method, {})).error.code).toBe(-32602);
    const versioned = await post(method, {}, { 'a2a-version': '1.0' });
    expect(((await versioned.json()) as Answer).error.code).toBe(-32009);
  }
  expect((await call('agent/getAuthenticatedExtendedCard', {})).error.code).toBe(-32007);
});
