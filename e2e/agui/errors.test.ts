/** Errors in the format of the protocol, as the official client receives them. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { type ScriptedModel, scriptedModel } from '../scripted-model.ts';
import { type ClientOptions, failOnWarnings, httpAgent, run, user } from './client.ts';

let model: ScriptedModel;
let server: TestServer;
let closed: TestServer;

failOnWarnings();
beforeAll(async () => {
  model = scriptedModel(({ messages }) => {
    const text = JSON.stringify(messages.at(-1)?.content);
    return text.includes('refuse') ? { status: 400 } : { say: 'Fine.' };
  });
  const settings = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake' };
  server = await startTestServer(settings, { listeners: [{ dialect: 'agui', port: 0 }] });
  closed = await startTestServer({ ...settings, PARLANCE_AUTH: 'required' });
});
afterAll(async () => {
  await server.stop();
  await closed.stop();
  model.stop();
});

const post = (body: string, path = '/agui') =>
  fetch(`${server.http}${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });

const failure = (http: string, text: string | null, options: ClientOptions = {}): Promise<unknown> =>
  run(httpAgent(http, options), text).then(
    () => null,
    (error: unknown) => error,
  );

const message = { id: 'm', role: 'user', content: 'hello' };
const input = { threadId: 'bad', runId: 'r', messages: [message] };

describe('invalid requests', () => {
  test.each([
    ['no JSON', '{', 'JSON'],
    ['no object', '[]', 'object'],
    ['no threadId', JSON.stringify({ ...input, threadId: undefined }), 'threadId'],
    ['an empty threadId', JSON.stringify({ ...input, threadId: '' }), 'threadId'],
    ['a threadId of control characters', JSON.stringify({ ...input, threadId: 'a\u0000b' }), 'session id'],
    ['no runId', JSON.stringify({ ...input, runId: undefined }), 'runId'],
    ['no messages', JSON.stringify({ ...input, messages: undefined }), 'messages'],
    [
      'an unknown role',
      JSON.stringify({ ...input, messages: [{ ...message, role: 'nobody' }] }),
      'messages[0].role',
    ],
    [
      'a message without id',
      JSON.stringify({ ...input, messages: [{ ...message, id: undefined }] }),
      'messages[0].id',
    ],
    [
      'a message without text',
      JSON.stringify({ ...input, messages: [{ ...message, content: ' ' }] }),
      'empty',
    ],
    [
      'a message without parts',
      JSON.stringify({ ...input, messages: [{ ...message, content: [] }] }),
      'empty',
    ],
    [
      'an image behind another kind of URL',
      JSON.stringify({
        ...input,
        messages: [
          { ...message, content: [{ type: 'image', source: { type: 'url', value: 'ftp://a/b.png' } }] },
        ],
      }),
      'base64',
    ],
    [
      'a tool with an invalid name',
      JSON.stringify({ ...input, tools: [{ name: 'a b', description: '' }] }),
      'tools[0].name',
    ],
    [
      'too many tools',
      JSON.stringify({ ...input, tools: Array(1_001).fill({ name: 'a', description: '' }) }),
      'tools',
    ],
    [
      'a bad resume',
      JSON.stringify({ ...input, resume: [{ interruptId: 'a', status: 'maybe' }] }),
      'resume[0].status',
    ],
    [
      'too much context',
      JSON.stringify({ ...input, context: Array(3).fill({ description: '', value: 'a'.repeat(100_000) }) }),
      'context',
    ],
  ])('%s: 400, and nothing is stored', async (_name, body, words) => {
    const response = await post(body);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      message: expect.stringContaining(words),
      code: expect.any(String),
    });
    expect((await fetch(`${server.http}/v1/sessions/bad`)).status).toBe(404);
  });

  test('a body that is too large: 413', async () => {
    const response = await post(JSON.stringify({ ...input, state: 'a'.repeat(40_000_000) }));
    expect(response.status).toBe(413);
  });
});

describe('what does not exist', () => {
  test('an agent: 404', async () => {
    const expected = {
      status: 404,
      payload: { code: 'not_found', message: expect.stringContaining('nobody') },
    };
    expect(await failure(server.http, 'hello', { agent: 'nobody' })).toMatchObject(expected);
  });

  test('a thread or an interrupt: 404', async () => {
    expect(await failure(server.http, null)).toMatchObject({ status: 404 });
    const resume = [{ interruptId: 'a', status: 'cancelled' }];
    expect((await post(JSON.stringify({ ...input, threadId: 'none', resume }))).status).toBe(404);
    expect((await fetch(`${server.http}/v1/sessions/none`)).status).toBe(404);
  });

  test('an endpoint or a method: in the format of the protocol', async () => {
    const response = await post('{}', '/agui/a/b');
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({ message: expect.any(String), code: 'not_found' });
    expect((await fetch(`${server.http}/agui`)).status).toBe(405);
  });
});

describe('tokens', () => {
  test('are needed if the server requires them', async () => {
    const expected = { status: 401, payload: { code: 'unauthenticated', message: expect.any(String) } };
    expect(await failure(closed.http, 'hello')).toMatchObject(expected);
    expect(await failure(closed.http, 'hello', { token: 'a.b.c' })).toMatchObject(expected);
    const token = await closed.login('uma', 'uma-password');
    expect(await failure(closed.http, 'hello', { token })).toBeNull();
  });

  test('a thread of another user is not found; its id can be used for an own thread', async () => {
    const [uma, dev] = [await closed.login('uma', 'uma-password'), await closed.login('dev', 'dev-password')];
    const agent = httpAgent(closed.http, { thread: 'mine', token: uma });
    await run(agent, 'a secret of uma');
    expect(await failure(closed.http, null, { thread: 'mine', token: dev })).toMatchObject({ status: 404 });
    const other = httpAgent(closed.http, { thread: 'mine', token: dev });
    await run(other, 'hello');
    await run(other, null);
    expect(JSON.stringify(other.messages)).not.toContain('uma');
    expect(JSON.stringify(model.requests.at(-1))).not.toContain('uma');
  });
});

test('a failure of the model is RUN_ERROR, the last event', async () => {
  const { types, events } = await run(httpAgent(server.http), 'refuse');
  expect(types).toEqual(['RUN_STARTED', 'RUN_ERROR']);
  expect(events.at(-1)).toEqual({
    type: 'RUN_ERROR',
    message: expect.any(String),
    code: 'provider_rejected',
  });
});

test('an extra listener serves the same paths', async () => {
  const { port } = server.running.listeners.find(({ dialect }) => dialect === 'agui') ?? {};
  for (const agent of [undefined, 'coder'])
    expect(await failure(`http://127.0.0.1:${port}`, 'hello', agent ? { agent } : {})).toBeNull();
});

test('too many requests of one caller are 429 with a retry time', async () => {
  const limited = await startTestServer({ PARLANCE_API_REQUESTS_PER_MINUTE: '1' });
  try {
    const agent = httpAgent(limited.http, { messages: [user('hello')] });
    await run(agent, null);
    const thrown = await failure(limited.http, 'hello');
    expect(thrown).toMatchObject({ status: 429, payload: { code: 'limited' } });
  } finally {
    await limited.stop();
  }
});
