/**
 * The limits of a running server, each with a small value; and the defaults, which one busy developer does not
 * reach.
 */
import { afterEach, describe, expect, test } from 'bun:test';
import { textPart } from '../../packages/protocol/src/index.ts';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { gatedModel } from '../scripted-model.ts';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

async function serve(settings: Record<string, string> = {}): Promise<TestServer> {
  const server = await startTestServer(settings);
  stops.push(() => server.stop());
  return server;
}

type Answer = { readonly status: number; readonly retryAfter: string | null; readonly body: unknown };

type Caller = { readonly http: string; readonly token?: string };
const as = (token: string, { http }: TestServer): Caller => ({ http, token });

async function ask({ http, token }: Caller, path: string, body?: object): Promise<Answer> {
  const response = await fetch(http + path, {
    method: body ? 'POST' : 'GET',
    headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) },
    body: body && JSON.stringify(body),
  });
  const text = await response.text();
  return {
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    body: text === '' ? null : JSON.parse(text),
  };
}

const input = (text: string) => ({ type: 'input.submit', parts: [textPart(text)] });
const submit = (server: TestServer, session: string, text = 'Hello') =>
  ask(server, `/v1/sessions/${session}/commands`, input(text));

test('sessions per principal: one more is refused, existing ones continue, archiving frees one', async () => {
  const server = await serve({ PARLANCE_SESSIONS_PER_PRINCIPAL: '2' });
  const statusOf = async (session: string) => (await submit(server, session)).status;
  expect([await statusOf('a'), await statusOf('b')]).toEqual([200, 200]);
  const refused = await submit(server, 'c');
  expect([refused.status, refused.retryAfter]).toEqual([429, '1']);
  expect(refused.body).toMatchObject({ error: { code: 'limited' } });
  expect(await statusOf('a')).toBe(200);
  const token = await server.login('uma', 'uma-password');
  expect((await ask(as(token, server), '/v1/sessions/c/commands', input('Hello'))).status).toBe(200);
  await ask(server, '/v1/sessions/a/commands', { type: 'session.archive' });
  expect(await statusOf('c')).toBe(200);
  expect(await statusOf('d')).toBe(429);
});

test('queued inputs: further ones are refused, and accepted ones are answered', async () => {
  const model = gatedModel();
  stops.push(() => model.stop());
  const server = await serve({ ...model.settings, PARLANCE_INPUTS_QUEUED: '2' });
  const client = await server.connect('/extension');
  client.send({ type: 'client_registration', clientType: 'browser_extension', capabilities: [] });
  await client.next('registration_confirmed');
  for (const content of ['1', '2', '3', '4'])
    client.send({ type: 'chat_message', content, sessionId: 'queue' });
  expect(await client.next('error')).toMatchObject({
    message: 'This session already has 2 queued messages. Try again in 2 seconds.',
    retryAfter: 2_000,
    sessionId: 'queue',
  });
  model.release();
  for (let count = 0; count < 3; count++) await client.next('agent_response');
});

test('stored bytes: beyond the limit inputs are refused, running turns end, reading and archiving work', async () => {
  const model = gatedModel();
  stops.push(() => model.stop());
  const server = await serve({ ...model.settings, PARLANCE_STORED_BYTES: '400000' });
  const client = await server.connect('/broadcast?session=running');
  expect((await submit(server, 'running')).status).toBe(200);
  let answer = await submit(server, 'filling', 'x'.repeat(50_000));
  for (let count = 0; answer.status === 200 && count < 50; count++)
    answer = await submit(server, 'filling', 'x'.repeat(50_000));
  expect([answer.status, answer.retryAfter]).toEqual([503, '60']);
  expect((await ask(server, '/v1/sessions/new/commands', { type: 'session.create' })).status).toBe(503);
  model.release();
  await client.next(({ type, session_id }) => type === 'agent_message' && session_id === 'running');
  expect((await ask(server, '/v1/sessions/running/events')).status).toBe(200);
  expect((await ask(server, '/v1/sessions/running/commands', { type: 'session.archive' })).status).toBe(200);
});

describe('requests per minute', () => {
  const paths: [dialect: string, path: string, body: object | undefined, shape: object][] = [
    ['native', '/v1/sessions', undefined, { error: { code: 'limited' }, detail: expect.any(String) }],
    [
      'conversations',
      '/v1/domains',
      undefined,
      { detail: expect.stringMatching(/^Too many requests\. Try again in/) },
    ],
    [
      'extension',
      '/api/summarize',
      { content: 'Bees.' },
      { error: expect.stringMatching(/^Too many requests\./) },
    ],
  ];
  for (const [dialect, path, body, shape] of paths) {
    test(`${dialect} answers 429 with a retry time, to that caller only`, async () => {
      const server = await serve({ PARLANCE_API_REQUESTS_PER_MINUTE: '2' });
      const token = await server.login('uma', 'uma-password');
      for (let count = 0; count < 2; count++)
        expect((await ask(as(token, server), path, body)).status).toBe(200);
      const refused = await ask(as(token, server), path, body);
      expect(refused.status).toBe(429);
      expect(Number(refused.retryAfter)).toBeWithin(1, 31);
      expect(refused.body).toMatchObject(shape);
      expect((await ask(server, path, body)).status).toBe(200);
      expect((await ask(server, '/health')).status).toBe(200);
    });
  }
});

test('a page that is too large is refused, in each format', async () => {
  const server = await serve({ PARLANCE_MAX_DOM: '1000' });
  const token = await server.login('uma', 'uma-password');
  const page = { url: 'https://example.com/', query: 'click Submit' };
  const forms = {
    dom: 'x'.repeat(1_001),
    skeletonDom: 'x'.repeat(1_001),
    interactiveTree: ['x'.repeat(1_000)],
    semanticNodes: ['x'.repeat(1_000)],
  };
  for (const [field, value] of Object.entries(forms)) {
    const refused = await ask(as(token, server), '/api/agent/interact', { ...page, [field]: value });
    expect([refused.status, refused.body]).toMatchObject([
      400,
      { code: 'VALIDATION_ERROR', details: { errors: [{ field }] } },
    ]);
  }
  expect((await ask(as(token, server), '/api/agent/interact', { ...page, dom: '<p>Hello</p>' })).status).toBe(
    200,
  );
});

test('a body that is too large is refused', async () => {
  const server = await serve({ PARLANCE_MAX_BODY: '2000' });
  const response = await fetch(`${server.http}/v1/sessions/a/commands`, {
    method: 'POST',
    body: JSON.stringify(input('x'.repeat(2_000))),
  });
  expect(response.status).toBe(413);
});

describe('sockets', () => {
  test('of one principal are counted over all dialects', async () => {
    const server = await serve({ PARLANCE_SOCKETS_PER_PRINCIPAL: '2' });
    const token = await server.login('uma', 'uma-password');
    await server.connect(`/agentloop?token=${token}`);
    await server.connect(`/broadcast?token=${token}`);
    await expect(server.connect(`/conversations?token=${token}`)).rejects.toThrow('cannot connect');
    await server.connect('/broadcast');
  });

  test('behind a trusted proxy, addresses are those of the clients', async () => {
    const server = await serve({ PARLANCE_SOCKETS_PER_ADDRESS: '1', PARLANCE_TRUSTED_PROXIES: '1' });
    const from = (address: string) => server.connect('/broadcast', { 'x-forwarded-for': address });
    await from('192.0.2.1');
    await expect(from('192.0.2.1')).rejects.toThrow('cannot connect');
    await from('192.0.2.2');
  });

  test('before authentication have limits on frame size, number and time', async () => {
    const server = await serve({
      PARLANCE_AUTH: 'required',
      PARLANCE_MAX_FIRST_FRAME: '2000',
      PARLANCE_UNKNOWN_SOCKETS: '1',
    });
    const sessionToken = await server.login('uma', 'uma-password');
    const client = await server.connect('/');
    const large = { type: 'ping', padding: 'x'.repeat(3_000) };
    client.send(large);
    expect(await client.next('error')).toMatchObject({
      code: 'INVALID_JSON',
      details: 'the message is larger than 2000 bytes',
    });
    await expect(server.connect('/')).rejects.toThrow('cannot connect');
    client.send({
      type: 'client_registration',
      clientType: 'browser_extension',
      capabilities: [],
      sessionToken,
    });
    await client.next('registration_confirmed');
    client.send({ type: 'ping' });
    await client.next('pong');
    client.send(large);
    await client.next('pong');
    await server.connect('/');
  });

  test('that do not authenticate in time are closed', async () => {
    const server = await serve({ PARLANCE_AUTH: 'required', PARLANCE_IDENTIFY_WITHIN: '100' });
    const client = await server.connect('/');
    expect(await client.closed).toEqual({ code: 1008, reason: 'A token is required.' });
  });
});

describe('frames per minute, in the frames of each dialect', () => {
  const refusals: [path: string, frame: object][] = [
    ['/extension', { type: 'error', code: 'HANDLER_ERROR', retryAfter: expect.any(Number) }],
    [
      '/agentloop',
      {
        type: 'error',
        payload: { message: 'Rate limit exceeded', details: { code: 429, retryAfter: expect.any(Number) } },
      },
    ],
    [
      '/broadcast',
      { type: 'error', error: expect.stringContaining('Try again in'), retry_after: expect.any(Number) },
    ],
    ['/conversations', { type: 'error', payload: { code: 'bad_request', retryAfter: expect.any(Number) } }],
    [
      '/app/app-key?protocol=7',
      { event: 'pusher:error', data: { code: 4301, message: expect.stringContaining('Try again in') } },
    ],
  ];
  for (const [path, frame] of refusals) {
    test(path, async () => {
      const server = await serve({ PARLANCE_FRAMES_PER_MINUTE: '1' });
      const token = await server.login('uma', 'uma-password');
      const client = await server.connect(path.includes('?') ? path : `${path}?token=${token}`);
      for (let count = 0; count < 2; count++) client.send({ event: 'pusher:ping', type: 'unheard_of' });
      const error = JSON.stringify(frame).includes('4301')
        ? await client.next(({ event }) => event === 'pusher:error')
        : await client.next((said) => JSON.stringify(said).includes('Too many messages.'));
      const { data } = error;
      expect({ ...error, ...(typeof data === 'string' ? { data: JSON.parse(data) } : {}) }).toMatchObject(
        frame,
      );
    });
  }
});

describe('with the defaults', () => {
  test('5,000 frames at full speed on one socket are all answered', async () => {
    const server = await serve();
    const client = await server.connect('/extension');
    for (let count = 0; count < 5_000; count++)
      client.send({ id: `ping-${count}`, type: 'ping', timestamp: count });
    await client.next(({ id }) => id === 'ping-4999');
    expect(client.frames.map(({ type }) => type)).toEqual(Array(5_000).fill('pong'));
  });

  test('200 concurrent sockets are all served', async () => {
    const server = await serve();
    const clients = await Promise.all(Array.from({ length: 200 }, () => server.connect('/extension')));
    for (const client of clients) client.send({ type: 'ping' });
    await Promise.all(clients.map((client) => client.next('pong')));
  });
});
