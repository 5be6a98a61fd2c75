/** Errors in the format of the protocol, as the official client receives them. */
import { describe, expect, test } from 'bun:test';
import Anthropic from '@anthropic-ai/sdk';
import { modelServer, testServers } from '../model-server.ts';
import { anthropicClient, failure, textIn } from './client.ts';

/** A delay longer than a minute is not awaited by the server. */
const refusedWith = (status: number) => ({
  status,
  message: `The vendor says ${status}: temperature must be 1`,
  ...(status === 429 && { headers: { 'retry-after': '61' } }),
});

const { started } = testServers();
const { model, server } = await modelServer(
  ({ messages }) => {
    const [, status] = /refuse (\d+)/.exec(JSON.stringify(messages.at(-1)?.content)) ?? [];
    return status ? refusedWith(Number(status)) : { say: 'Fine.' };
  },
  { MODEL_ALIASES: 'claude-*=fake, old=coder, lost=nowhere' },
  { listeners: [{ dialect: 'anthropic', port: 0 }] },
);

const ASKED = { model: 'fake', max_tokens: 100, messages: [{ role: 'user' as const, content: 'hello' }] };

/** Every endpoint, as the client calls it. */
const ENDPOINTS: readonly (readonly [string, (client: Anthropic) => PromiseLike<unknown>])[] = [
  ['models', (client) => client.models.list()],
  ['a model', (client) => client.models.retrieve('fake')],
  ['a message', (client) => client.messages.create(ASKED)],
  ['a stream', (client) => client.messages.create({ ...ASKED, stream: true })],
  ['a count', (client) => client.messages.countTokens({ model: 'fake', messages: ASKED.messages })],
];

const post = (body: string, path = '/anthropic/v1/messages') =>
  fetch(`${server.http}${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });

describe('models', () => {
  test('are those of the server, the agents and parlance, in pages', async () => {
    const { data } = await anthropicClient(server.http).models.list();
    expect(data.map(({ id }) => id)).toEqual(expect.arrayContaining(['parlance', 'fake', 'coder']));
    expect(data[0] as object).toEqual({
      type: 'model',
      id: 'parlance',
      display_name: 'parlance',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    });
    const paged: string[] = [];
    for await (const { id } of anthropicClient(server.http).models.list({ limit: 1 })) paged.push(id);
    expect(paged).toEqual(data.map(({ id }) => id));
  });

  test('have this format at /v1/models with the header, and another without it', async () => {
    const { port } = server.running.listeners.find(({ dialect }) => dialect === 'anthropic') ?? {};
    for (const http of [server.http, `http://127.0.0.1:${port}`]) {
      const client = anthropicClient(http, { base: '' });
      expect((await client.models.list()).data[0]).toMatchObject({ type: 'model' });
      expect(await client.models.retrieve('coder')).toMatchObject({ type: 'model', id: 'coder' });
      expect(textIn(await client.messages.create(ASKED))).toBe('Fine.');
    }
    expect(await (await fetch(`${server.http}/v1/models`)).json()).toMatchObject({ object: 'list' });
    const alone = await fetch(`http://127.0.0.1:${port}/v1/models`);
    expect(await alone.json()).toMatchObject({ has_more: false });
  });

  test('with an alias are answered, and the answer has the name of the actual model', async () => {
    const client = anthropicClient(server.http);
    expect((await client.messages.create({ ...ASKED, model: 'claude-opus-9' })).model).toBe('fake');
    expect(await client.models.retrieve('old')).toMatchObject({ id: 'coder' });
  });

  test('that do not exist are not found', async () => {
    const client = anthropicClient(server.http);
    for (const name of ['nobody', 'lost']) {
      const expected = { status: 404, type: 'not_found_error' };
      expect(await failure(client.models.retrieve(name))).toMatchObject(expected);
      const thrown = await failure(client.messages.create({ ...ASKED, model: name }));
      expect(thrown).toBeInstanceOf(Anthropic.NotFoundError);
      expect(thrown).toMatchObject({ ...expected, details: null });
      const counted = client.messages.countTokens({ model: name, messages: ASKED.messages });
      expect(await failure(counted)).toMatchObject(expected);
    }
  });
});

describe('invalid requests', () => {
  const said = (content: string) => `{"model":"fake","max_tokens":9,"messages":${content}}`;

  test.each([
    '{',
    '[]',
    '{"max_tokens":9,"messages":[{"role":"user","content":"a"}]}',
    '{"model":"fake","messages":[{"role":"user","content":"a"}]}',
    '{"model":"fake","max_tokens":0,"messages":[{"role":"user","content":"a"}]}',
    '{"model":"fake","max_tokens":9}',
    said('[]'),
    said('[{"role":"user","content":" "}]'),
    said('[{"role":"user","content":[]}]'),
    said('[{"role":"nobody","content":"a"}]'),
    said('[{"role":"system","content":"a"}]'),
    said('[{"role":"user","content":[{"type":"text"}]}]'),
    said('[{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":"b"}]}]'),
    said('[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]'),
    said('[{"role":"user","content":"a"}],"tool_choice":{"type":"tool"}'),
    said('[{"role":"user","content":"a"}],"tools":[{"name":"a b","input_schema":{}}]'),
    said('[{"role":"user","content":"a"}],"thread":{"type":"continue"}'),
  ])('%s is 400', async (body) => {
    const response = await post(body);
    const request_id = response.headers.get('request-id');
    expect(request_id).not.toBeNull();
    expect(await response.json()).toEqual({
      type: 'error',
      error: { type: 'invalid_request_error', message: expect.any(String) },
      request_id,
    });
    expect(response.status).toBe(400);
  });

  test('unknown fields, betas and kinds of blocks are ignored', async () => {
    const client = anthropicClient(server.http);
    const answer = await client.beta.messages.create({
      ...ASKED,
      messages: [
        {
          role: 'user',
          content: [{ type: 'text', text: 'hello' }, { type: 'unheard_of', what: 1 } as never],
        },
      ],
      betas: ['nobody-knows-2031-01-01'],
      metadata: { user_id: '{"session_id":"1"}' },
      service_tier: 'auto',
      context_management: { edits: [] },
      output_config: { effort: 'high' },
    });
    expect(textIn(answer)).toBe('Fine.');
  });

  test('an unknown endpoint is refused in the format of the protocol', async () => {
    for (const path of ['/anthropic/v1/files', '/v1/messages/batches']) {
      const response = await post('{}', path);
      expect(response.status).toBe(404);
      expect(await response.json()).toEqual({
        type: 'error',
        error: { type: 'not_found_error', message: expect.any(String) },
        request_id: response.headers.get('request-id'),
      });
    }
  });
});

describe('keys', () => {
  test('are needed if the server requires them, as x-api-key or as a bearer', async () => {
    const expected = { status: 401, type: 'authentication_error', requestID: expect.any(String) };
    const closed = await started({ PARLANCE_AUTH: 'required', MODEL: 'fake', OPENAI_BASE_URL: model.url });
    const client = anthropicClient(closed.http);
    for (const [name, call] of ENDPOINTS)
      expect([name, await failure(call(client))]).toMatchObject([name, expected]);
    const key = await closed.login('uma', 'uma-password');
    for (const options of [{ key }, { token: key }])
      expect(textIn(await anthropicClient(closed.http, options).messages.create(ASKED))).toBe('Fine.');
  });

  test('in our format but invalid are 401 even in open mode; other values count as no key', async () => {
    for (const options of [{ key: 'plk_abc' }, { key: 'a.b.c' }, { token: 'a.b.c' }])
      expect(await failure(anthropicClient(server.http, options).models.list())).toMatchObject({
        status: 401,
      });
    for (const options of [{ key: 'sk-ant-anything' }, { token: 'word' }])
      expect((await anthropicClient(server.http, options).models.list()).data.length).toBeGreaterThan(1);
  });
});

describe('failures of the model', () => {
  const ask = (client: Anthropic, content: string, stream = false): Promise<unknown> =>
    client.messages.create({ ...ASKED, messages: [{ role: 'user', content }], stream });

  test.each([
    [400, 'invalid_request_error'],
    [401, 'authentication_error'],
    [402, 'billing_error'],
    [403, 'permission_error'],
    [404, 'not_found_error'],
    [413, 'request_too_large'],
    [422, 'invalid_request_error'],
  ] as const)('a refusal with %d has its status and text, and is not retried', async (status, type) => {
    const client = anthropicClient(server.http, { maxRetries: 2 });
    const before = model.requests.length;
    for (const stream of [false, true]) {
      const thrown = (await failure(ask(client, `refuse ${status}`, stream))) as InstanceType<
        typeof Anthropic.APIError
      >;
      // LangChain sends a request again after a 422.
      expect(thrown).toMatchObject({ status: status === 422 ? 400 : status, type });
      expect(thrown.message).toContain(`The vendor says ${status}: temperature must be 1.`);
      expect(thrown.headers?.get('x-should-retry')).toBe('false');
      expect(thrown.headers?.get('retry-after')).toBeNull();
      expect(thrown.headers?.get('x-parlance-session')).not.toBeNull();
    }
    expect(model.requests).toHaveLength(before + 2);
  });

  test('a rate limit stays 429 with the delay', async () => {
    for (const stream of [false, true]) {
      const thrown = await failure(ask(anthropicClient(server.http), 'refuse 429', stream));
      expect(thrown).toBeInstanceOf(Anthropic.RateLimitError);
      expect(thrown).toMatchObject({ type: 'rate_limit_error' });
      const { headers, message } = thrown as InstanceType<typeof Anthropic.APIError>;
      expect(message).toContain('The vendor says 429');
      expect(headers?.get('retry-after')).toBe('61');
    }
  });

  test('an outage is 502', async () => {
    const asked = ask(anthropicClient(server.http), 'refuse 500');
    expect(await failure(asked)).toMatchObject({ status: 502, type: 'api_error' });
  });
});

describe('limits', () => {
  test('too many requests of one caller are 429 with a retry time', async () => {
    const limited = await started({ PARLANCE_API_REQUESTS_PER_MINUTE: '1' });
    const client = anthropicClient(limited.http);
    await client.models.list();
    for (const [name, call] of ENDPOINTS) {
      const thrown = (await failure(call(client))) as InstanceType<typeof Anthropic.APIError>;
      expect(thrown).toBeInstanceOf(Anthropic.RateLimitError);
      expect([name, thrown]).toMatchObject([name, { type: 'rate_limit_error' }]);
      expect(Number(thrown.headers?.get('retry-after'))).toBeGreaterThan(0);
      expect(thrown.headers?.get('x-should-retry')).toBeNull();
    }
  });

  test('a body that is too large is 413', async () => {
    const small = await started({ PARLANCE_MAX_BODY: '100000' });
    const client = anthropicClient(small.http);
    const messages = [{ role: 'user' as const, content: 'a'.repeat(200_000) }];
    for (const asked of [
      client.messages.create({ ...ASKED, messages }),
      client.messages.countTokens({ model: 'parlance', messages }),
    ])
      expect(await failure(asked)).toMatchObject({
        status: 413,
        type: 'request_too_large',
        requestID: expect.any(String),
      });
  });
});
