/** Failures in the shape of the protocol, as the official client sees them. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { type FakeModel, fakeModel } from '../fake-model.ts';
import { failure, openaiClient } from './client.ts';

let model: FakeModel;
let server: TestServer;
let closed: TestServer;

beforeAll(async () => {
  model = fakeModel(({ messages }) => {
    const text = JSON.stringify(messages.at(-1)?.content);
    return text.includes('refuse') ? { status: 400 } : { say: 'Fine.' };
  });
  const settings = {
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: 'key',
    MODEL: 'fake',
    MODEL_ALIASES: 'gpt-*=fake, old=coder, lost=nowhere',
  };
  server = await startTestServer(settings, { doors: [{ dialect: 'openai', port: 0 }] });
  closed = await startTestServer({ ...settings, PARLANCE_AUTH: 'required' });
});
afterAll(async () => {
  await server.stop();
  await closed.stop();
  model.stop();
});

const hello = [{ role: 'user', content: 'hello' }] as const;

const post = (body: string, path = '/openai/v1/chat/completions') =>
  fetch(`${server.http}${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });

describe('models', () => {
  test('are the server’s, the agents and parlance', async () => {
    const { data } = await openaiClient(server.http).models.list();
    const ids = data.map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(['parlance', 'fake', 'coder']));
    expect(data[0]).toEqual({
      id: 'parlance',
      object: 'model',
      created: expect.any(Number),
      owned_by: 'parlance',
    });
    expect(await openaiClient(server.http).models.retrieve('coder')).toMatchObject({ id: 'coder' });
  });

  test('are served at /v1, and at /v1 of a listener of its own', async () => {
    const { port } = server.running.doors.find(({ dialect }) => dialect === 'openai') ?? {};
    for (const http of [server.http, `http://127.0.0.1:${port}`]) {
      const client = openaiClient(http, { base: '/v1' });
      expect((await client.models.list()).data.length).toBeGreaterThan(2);
      const answer = await client.chat.completions.create({ model: 'fake', messages: [...hello] });
      expect(answer.choices[0]?.message.content).toBe('Fine.');
    }
    const missing = await fetch(`http://127.0.0.1:${port}/v1/nothing`);
    expect(missing.status).toBe(404);
    expect(await missing.json()).toMatchObject({ error: { type: 'invalid_request_error' } });
  });

  test('with an alias are answered, and the answer names the one that answered', async () => {
    const client = openaiClient(server.http);
    const answer = await client.chat.completions.create({ model: 'gpt-9', messages: [...hello] });
    expect(answer.model).toBe('fake');
    expect(await client.models.retrieve('old')).toMatchObject({ id: 'coder' });
  });

  test('that do not exist are not found', async () => {
    const client = openaiClient(server.http);
    for (const name of ['nobody', 'lost']) {
      const expected = {
        status: 404,
        code: 'model_not_found',
        param: 'model',
        type: 'invalid_request_error',
      };
      expect(await failure(client.models.retrieve(name))).toMatchObject(expected);
      const asked = client.chat.completions.create({ model: name, messages: [...hello] });
      expect(await failure(asked)).toBeInstanceOf(OpenAI.NotFoundError);
    }
  });

  test('that are agents answer as that agent', async () => {
    const client = openaiClient(server.http, { session: 'for the coder' });
    await client.chat.completions.create({ model: 'coder', messages: [...hello] });
    const session = await (await fetch(`${server.http}/v1/sessions/for%20the%20coder`)).json();
    expect(JSON.stringify(session)).toContain('coder');
  });
});

describe('requests that do not fit', () => {
  test.each([
    ['{', null],
    ['[]', null],
    ['{"messages":[]}', 'model'],
    ['{"model":"fake"}', 'messages'],
    ['{"model":"fake","messages":[]}', 'messages'],
    ['{"model":"fake","messages":[{"role":"user","content":"a"},{"role":"nobody"}]}', 'messages[1].role'],
    ['{"model":"fake","messages":[{"role":"user","content":"a"}],"n":0}', 'n'],
    ['{"model":"fake","messages":[{"role":"user","content":" "}]}', 'messages'],
    ['{"model":"fake","messages":[{"role":"system","content":"a"}]}', 'messages'],
    [
      '{"model":"fake","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}',
      'messages',
    ],
    ['{"model":"fake","messages":[{"role":"tool","tool_call_id":"x","content":"b"}]}', 'messages'],
    [
      '{"model":"fake","messages":[{"role":"user","content":"a"}],"tool_choice":{"type":"function","function":{"name":"x"}}}',
      'tool_choice',
    ],
  ])('%s is 400 and names the field', async (body, param) => {
    const response = await post(body);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      error: { message: expect.any(String), type: 'invalid_request_error', param, code: null },
    });
  });

  test('n above 1 is one', async () => {
    const answer = await openaiClient(server.http).chat.completions.create({
      model: 'fake',
      messages: [...hello],
      n: 3,
    });
    expect(answer.choices).toHaveLength(1);
  });

  test('an unknown endpoint is refused in the shape of the protocol', async () => {
    const response = await post('{}', '/openai/v1/images');
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error' } });
  });
});

describe('keys', () => {
  test('are needed where the server requires them', async () => {
    const expected = { status: 401, code: 'invalid_api_key', type: 'invalid_request_error' };
    expect(await failure(openaiClient(closed.http).models.list())).toMatchObject(expected);
    const key = await closed.login('uma', 'uma-password');
    expect((await openaiClient(closed.http, { key }).models.list()).data.length).toBeGreaterThan(1);
  });

  test('that have the form of ours and are not good are 401 in open mode, too; any word is none', async () => {
    for (const key of ['plk_abc', 'a.b.c'])
      expect(await failure(openaiClient(server.http, { key }).models.list())).toMatchObject({ status: 401 });
    expect(
      (await openaiClient(server.http, { key: 'sk-anything' }).models.list()).data.length,
    ).toBeGreaterThan(1);
  });
});

describe('failures of the model', () => {
  test('before anything was sent are an HTTP error that is not tried again', async () => {
    const client = openaiClient(server.http, { maxRetries: 2 });
    const before = model.requests.length;
    for (const stream of [false, true]) {
      const asked = client.chat.completions.create({
        model: 'fake',
        messages: [{ role: 'user', content: 'refuse' }],
        stream,
      });
      const thrown = (await failure(asked)) as InstanceType<typeof OpenAI.APIError>;
      expect(thrown).toMatchObject({ status: 502, type: 'server_error' });
      expect(thrown.headers?.get('x-should-retry')).toBe('false');
      expect(thrown.headers?.get('x-parlance-session')).not.toBeNull();
    }
    expect(model.requests).toHaveLength(before + 2);
  });
});

test('too many requests of one caller are 429 with a time to wait', async () => {
  const limited = await startTestServer({ PARLANCE_API_REQUESTS_PER_MINUTE: '1' });
  try {
    const client = openaiClient(limited.http);
    await client.models.list();
    const thrown = (await failure(client.models.list())) as InstanceType<typeof OpenAI.APIError>;
    expect(thrown).toBeInstanceOf(OpenAI.RateLimitError);
    expect(thrown).toMatchObject({ type: 'rate_limit_error', code: 'rate_limit_exceeded' });
    expect(Number(thrown.headers?.get('retry-after'))).toBeGreaterThan(0);
    expect(thrown.headers?.get('x-should-retry')).toBeNull();
  } finally {
    await limited.stop();
  }
});
