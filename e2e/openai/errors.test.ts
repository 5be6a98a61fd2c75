/** Errors in the format of the protocol, as the official client receives them. */
import { describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import { modelServer, testServers } from '../model-server.ts';
import { failure, openaiClient } from './client.ts';

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
  { MODEL_ALIASES: 'gpt-*=fake, old=coder, lost=nowhere' },
  { listeners: [{ dialect: 'openai', port: 0 }] },
);

const hello = [{ role: 'user', content: 'hello' }] as const;

describe('models', () => {
  test('are those of the server, the agents and parlance', async () => {
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

  test('are served at /v1, and at /v1 of an extra listener', async () => {
    const { port } = server.running.listeners.find(({ dialect }) => dialect === 'openai') ?? {};
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

  test('with an alias are answered, and the answer has the name of the actual model', async () => {
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
      for (const asked of [
        client.chat.completions.create({ model: name, messages: [...hello] }),
        client.responses.create({ model: name, input: 'hello' }),
        client.responses.create({ model: name, input: 'hello', stream: true, background: true }),
      ]) {
        const thrown = await failure(asked);
        expect(thrown).toBeInstanceOf(OpenAI.NotFoundError);
        expect(thrown).toMatchObject(expected);
      }
    }
  });

  test('that are agents answer as that agent', async () => {
    const client = openaiClient(server.http, { session: 'for the coder' });
    await client.chat.completions.create({ model: 'coder', messages: [...hello] });
    const session = await (await fetch(`${server.http}/v1/sessions/for%20the%20coder`)).json();
    expect(JSON.stringify(session)).toContain('coder');
  });
});

/** Every endpoint, as the client calls it. */
const ENDPOINTS: readonly (readonly [string, (client: OpenAI) => PromiseLike<unknown>])[] = [
  ['models', (client) => client.models.list()],
  ['a model', (client) => client.models.retrieve('fake')],
  ['chat', (client) => client.chat.completions.create({ model: 'fake', messages: [...hello] })],
  [
    'a chat stream',
    (client) => client.chat.completions.stream({ model: 'fake', messages: [...hello] }).done(),
  ],
  ['a response', (client) => client.responses.create({ model: 'fake', input: 'hello' })],
  ['a response stream', (client) => client.responses.create({ model: 'fake', input: 'hello', stream: true })],
  ['a stored response', (client) => client.responses.retrieve('resp_1')],
  ['a cancelled response', (client) => client.responses.cancel('resp_1')],
  ['a deleted response', (client) => client.responses.delete('resp_1')],
  ['input items', (client) => client.responses.inputItems.list('resp_1')],
  ['a new conversation', (client) => client.conversations.create()],
  ['a conversation', (client) => client.conversations.retrieve('conv_1')],
  ['a changed conversation', (client) => client.conversations.update('conv_1', { metadata: {} })],
  ['a deleted conversation', (client) => client.conversations.delete('conv_1')],
  ['items of a conversation', (client) => client.conversations.items.list('conv_1')],
];

describe('keys', () => {
  test('are needed by every endpoint if the server requires them', async () => {
    const closed = await started({ PARLANCE_AUTH: 'required' });
    const client = openaiClient(closed.http);
    for (const [name, call] of ENDPOINTS)
      expect([name, await failure(call(client))]).toMatchObject([
        name,
        { status: 401, code: 'invalid_api_key', type: 'invalid_request_error' },
      ]);
    const key = await closed.login('uma', 'uma-password');
    expect((await openaiClient(closed.http, { key }).models.list()).data.length).toBeGreaterThan(1);
  });

  test('in our format but invalid are 401 even in open mode; other values count as no key', async () => {
    for (const key of ['plk_abc', 'a.b.c']) {
      const client = openaiClient(server.http, { key });
      for (const [name, call] of ENDPOINTS)
        expect([name, await failure(call(client))]).toMatchObject([name, { status: 401 }]);
    }
    expect(
      (await openaiClient(server.http, { key: 'sk-anything' }).models.list()).data.length,
    ).toBeGreaterThan(1);
  });
});

describe('failures of the model', () => {
  const kinds = ['whole', 'streamed', 'response', 'streamed response'] as const;
  const ask = (client: OpenAI, kind: (typeof kinds)[number], content: string): Promise<unknown> =>
    kind.endsWith('response')
      ? client.responses.create({ model: 'fake', input: content, stream: kind !== 'response' })
      : client.chat.completions.create({
          model: 'fake',
          messages: [{ role: 'user', content }],
          stream: kind === 'streamed',
        });

  test.each([
    [400, OpenAI.BadRequestError],
    [401, OpenAI.AuthenticationError],
    [402, OpenAI.APIError],
    [403, OpenAI.PermissionDeniedError],
    [404, OpenAI.NotFoundError],
    [413, OpenAI.APIError],
    [422, OpenAI.BadRequestError],
  ] as const)(
    'a refusal with %d has its status and text, and is not retried',
    async (status, kindOfError) => {
      const client = openaiClient(server.http, { maxRetries: 2 });
      const before = model.requests.length;
      for (const kind of kinds) {
        const thrown = (await failure(ask(client, kind, `refuse ${status}`))) as InstanceType<
          typeof OpenAI.APIError
        >;
        expect(thrown).toBeInstanceOf(kindOfError);
        // LangChain sends a request again after a 422.
        const told = status === 422 ? 400 : status;
        expect(thrown).toMatchObject({ status: told, type: 'invalid_request_error' });
        expect(thrown.message).toContain(`The vendor says ${status}: temperature must be 1.`);
        expect(thrown.headers?.get('x-should-retry')).toBe('false');
        expect(thrown.headers?.get('retry-after')).toBeNull();
        expect(thrown.headers?.get('x-parlance-session')).not.toBeNull();
      }
      expect(model.requests).toHaveLength(before + kinds.length);
    },
  );

  test('a rate limit stays 429 with the delay', async () => {
    const client = openaiClient(server.http, { maxRetries: 2 });
    for (const kind of kinds) {
      const thrown = (await failure(ask(client, kind, 'refuse 429'))) as InstanceType<typeof OpenAI.APIError>;
      expect(thrown).toBeInstanceOf(OpenAI.RateLimitError);
      expect(thrown).toMatchObject({ type: 'rate_limit_error', code: 'rate_limit_exceeded' });
      expect(thrown.message).toContain('The vendor says 429');
      expect(thrown.headers?.get('retry-after')).toBe('61');
    }
  });

  test('an outage is 502', async () => {
    const asked = ask(openaiClient(server.http), 'whole', 'refuse 500');
    expect(await failure(asked)).toMatchObject({ status: 502, type: 'server_error' });
  });
});

describe('limits', () => {
  test('too many requests of one caller are 429 with a retry time', async () => {
    const limited = await started({ PARLANCE_API_REQUESTS_PER_MINUTE: '1' });
    const client = openaiClient(limited.http);
    await client.models.list();
    for (const [name, call] of ENDPOINTS) {
      const thrown = (await failure(call(client))) as InstanceType<typeof OpenAI.APIError>;
      expect(thrown).toBeInstanceOf(OpenAI.RateLimitError);
      expect([name, thrown]).toMatchObject([name, { type: 'rate_limit_error', code: 'rate_limit_exceeded' }]);
      expect(Number(thrown.headers?.get('retry-after'))).toBeGreaterThan(0);
      expect(thrown.headers?.get('x-should-retry')).toBeNull();
    }
  });

  test('a body that is too large is 413', async () => {
    const small = await started({ PARLANCE_MAX_BODY: '100000' });
    const client = openaiClient(small.http);
    const large = 'a'.repeat(200_000);
    const { id } = await client.conversations.create();
    for (const ask of [
      () =>
        client.chat.completions.create({ model: 'parlance', messages: [{ role: 'user', content: large }] }),
      () => client.responses.create({ model: 'parlance', input: large }),
      () => client.conversations.create({ items: [{ role: 'user', content: large }] }),
      () => client.conversations.update(id, { metadata: { large } }),
    ])
      expect(await failure(ask())).toMatchObject({
        status: 413,
        type: 'invalid_request_error',
        error: { message: 'The body is larger than 100000 bytes.' },
      });
  });
});
