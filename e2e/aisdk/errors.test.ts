/** Errors before the stream: a status, and one sentence that the client shows. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { type ScriptedModel, scriptedModel } from '../scripted-model.ts';
import { chatWith, chunksOf, historyOf, post, textOf, typesOf, userMessage } from './client.ts';

let model: ScriptedModel;
let server: TestServer;
let closed: TestServer;

beforeAll(async () => {
  model = scriptedModel(() => ({ say: 'Fine.' }));
  const settings = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake' };
  server = await startTestServer(settings, { listeners: [{ dialect: 'aisdk', port: 0 }] });
  closed = await startTestServer({
    ...settings,
    PARLANCE_AUTH: 'required',
    ALLOWED_ORIGINS: 'https://app.example',
  });
});
afterAll(async () => {
  await server.stop();
  await closed.stop();
  model.stop();
});

/** The status; checks that the body is one plain sentence. */
async function refused(response: Response): Promise<number> {
  expect(response.headers.get('content-type')).toStartWith('text/plain');
  expect(await response.text()).toMatch(/^[^{}\n]+[.!?]$/);
  return response.status;
}

const hello = userMessage('hello', 'm1');
const user = (parts: unknown) => [{ id: 'm1', role: 'user', parts }];
const file = (url: string) => user([{ type: 'file', mediaType: 'image/png', url }]);

describe('an invalid request is refused with 400, and nothing is stored', () => {
  test.each([
    ['no JSON', '{'],
    ['no object', '[]'],
    ['null', 'null'],
    ['JSON that is nested too deeply', `{"id":"bad","messages":${'['.repeat(5_000)}${']'.repeat(5_000)}}`],
    ['no messages', { id: 'bad' }],
    ['no message', { id: 'bad', messages: [] }],
    ['invalid messages', { id: 'bad', messages: 'hello' }],
    ['an invalid role', { id: 'bad', messages: [{ ...hello, role: 'robot' }] }],
    ['no parts', { id: 'bad', messages: [{ id: 'm1', role: 'user' }] }],
    ['invalid parts', { id: 'bad', messages: user(['hello']) }],
    ['an empty list of parts', { id: 'bad', messages: user([]) }],
    ['an invalid text', { id: 'bad', messages: user([{ type: 'text', text: 7 }]) }],
    ['an empty text', { id: 'bad', messages: user([{ type: 'text', text: ' ' }]) }],
    ['a file elsewhere', { id: 'bad', messages: file('ftp://example.com/a.png') }],
    ['a file with invalid base64', { id: 'bad', messages: file('data:image/png;base64,****') }],
    ['a message without an id', { id: 'bad', messages: [{ role: 'user', parts: hello.parts }] }],
    ['no message of the user', { id: 'bad', messages: [{ id: 's', role: 'system', parts: hello.parts }] }],
    ['an invalid trigger', { id: 'bad', messages: [hello], trigger: 'guess' }],
    ['invalid tools', { id: 'bad', messages: [hello], tools: [{ name: 'no spaces' }] }],
    ['invalid tools by name', { id: 'bad', messages: [hello], tools: { 'no spaces': {} } }],
    ['tools that are a word', { id: 'bad', messages: [hello], tools: 'all' }],
    [
      'too many tools by name',
      {
        id: 'bad',
        messages: [hello],
        tools: Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`tool${index}`, {}])),
      },
    ],
    ['too many tools', { id: 'bad', messages: [hello], tools: Array(1_001).fill({ name: 'a' }) }],
  ])('%s', async (_, body) => {
    expect(await refused(await post(server.http, body))).toBe(400);
    expect(await refused(await fetch(`${server.http}/api/chat/bad`))).toBe(404);
  });

  test.each([
    ['no id', {}],
    ['an empty id', { id: '' }],
    ['an id that is not a string', { id: 7 }],
    ['an id with a line break', { id: 'a\nb' }],
    ['an id that is too long', { id: 'x'.repeat(201) }],
  ])('%s', async (_, id) => {
    expect(await refused(await post(server.http, { ...id, messages: [hello] }))).toBe(400);
  });
});

test('the client shows the sentence, and the chat can continue', async () => {
  const chat = chatWith({ server, id: 'after an error' });
  await chat.sendMessage({
    files: [{ type: 'file', mediaType: 'image/png', url: 'ftp://example.com/a.png' }],
  });
  expect(chat.error?.message).toBe('Files are accepted as http:, https: and data: URLs only.');
  await chat.sendMessage({ text: 'without it' });
  expect(chat.status).toBe('ready');
  expect(textOf(chat.lastMessage)).toBe('Fine.');
});

test('unknown chats and endpoints are not found', async () => {
  expect(await refused(await fetch(`${server.http}/api/chat/nobody`))).toBe(404);
  expect(await refused(await fetch(`${server.http}/api/chat/nobody/stop`, { method: 'POST' }))).toBe(404);
  expect(await refused(await fetch(`${server.http}/api/chat/nobody/elsewhere`))).toBe(404);
  expect(await refused(await fetch(`${server.http}/api/chat`))).toBe(405);
});

test('ids may have any characters', async () => {
  for (const id of ['a/b c', 'ü#?%', '%2F', '日本', '..%2f']) {
    const chat = chatWith({ server, id });
    await chat.sendMessage({ text: 'hello' });
    expect(await historyOf(server.http, id)).toHaveLength(2);
    const path = encodeURIComponent(id);
    expect((await fetch(`${server.http}/api/chat/${path}/stream`)).status).toBe(204);
    expect((await fetch(`${server.http}/api/chat/${path}/stop`, { method: 'POST' })).status).toBe(204);
  }
});

test('the dialect can have an extra listener', async () => {
  const { port } = server.running.listeners.find(({ dialect }) => dialect === 'aisdk') ?? {};
  const response = await post(`http://127.0.0.1:${port}`, { id: 'listener', messages: [hello] });
  expect(typesOf(await chunksOf(response)).at(-1)).toBe('finish');
});

describe('if a token is required', () => {
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

  test('every endpoint answers 401 without one or with an invalid one', async () => {
    for (const headers of [{}, bearer('no.good.token'), bearer('any word')]) {
      expect(await refused(await post(closed.http, { id: 'a', messages: [hello] }, headers))).toBe(401);
      for (const [method, path] of [
        ['GET', '/a'],
        ['GET', '/a/stream'],
        ['POST', '/a/stop'],
      ] as const)
        expect(await refused(await fetch(`${closed.http}/api/chat${path}`, { method, headers }))).toBe(401);
    }
    const chat = chatWith({ server: closed, id: 'a' });
    await chat.sendMessage({ text: 'hello' });
    expect(chat.error?.message).toBe('A token is required.');
  });

  test('the same id is another chat for another user, and users see only their own chats', async () => {
    const dev = bearer(await closed.login('dev', 'dev-password'));
    const uma = bearer(await closed.login('uma', 'uma-password'));
    const of = (headers: Record<string, string>) =>
      chatWith({ server: closed, id: 'shared', transport: { headers } });
    await of(dev).sendMessage({ text: 'secret of dev' });
    expect(await refused(await fetch(`${closed.http}/api/chat/shared`, { headers: uma }))).toBe(404);
    expect((await fetch(`${closed.http}/api/chat/shared/stream`, { headers: uma })).status).toBe(204);
    const stop = { method: 'POST', headers: uma };
    expect(await refused(await fetch(`${closed.http}/api/chat/shared/stop`, stop))).toBe(404);
    const [asked, answer] = await historyOf(closed.http, 'shared', dev);
    const continued = { id: 'shared', messages: [asked, answer] };
    expect(await refused(await post(closed.http, continued, uma))).toBe(404);
    await of(uma).sendMessage({ text: 'secret of uma' });
    expect(await refused(await post(closed.http, continued, uma))).toBe(404);
    expect(JSON.stringify(model.requests.at(-1)?.messages)).not.toContain('of dev');
    expect((await historyOf(closed.http, 'shared', uma)).map(textOf)).toEqual(['secret of uma', 'Fine.']);
    expect((await historyOf(closed.http, 'shared', dev)).map(textOf)).toEqual(['secret of dev', 'Fine.']);
  });

  test('pages of allowed origins may call, others may not', async () => {
    const dev = bearer(await closed.login('dev', 'dev-password'));
    const from = (origin: string) =>
      post(closed.http, { id: 'origin', messages: [hello] }, { ...dev, origin });
    const allowed = await from('https://app.example');
    expect(allowed.status).toBe(200);
    expect(allowed.headers.get('access-control-allow-origin')).toBe('https://app.example');
    await chunksOf(allowed);
    expect(await refused(await from('https://evil.example'))).toBe(403);
    const preflight = await fetch(`${closed.http}/api/chat`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type',
      },
    });
    expect(preflight.headers.get('access-control-allow-headers')).toContain('authorization');
  });
});

describe('limits', () => {
  test('too many requests are refused with a retry time', async () => {
    const limited = await startTestServer({
      OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: 'key',
      MODEL: 'fake',
      PARLANCE_API_REQUESTS_PER_MINUTE: '3',
    });
    const asked = () => fetch(`${limited.http}/api/chat/nobody`);
    for (const _ of [1, 2, 3]) expect((await asked()).status).toBe(404);
    const response = await asked();
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refused(response)).toBe(429);
    await limited.stop();
  });

  test('a body that is too large is refused', async () => {
    const small = await startTestServer({ PARLANCE_MAX_BODY: '100000' });
    const body = { id: 'large', messages: [userMessage('x'.repeat(200_000))] };
    expect((await post(small.http, body)).status).toBe(413);
    await small.stop();
  });
});
