/** Errors in the format of the protocol, and the agent card. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { request as httpRequest } from 'node:http';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { type ScriptedModel, scriptedModel } from '../scripted-model.ts';
import { postJson } from '../server-process.ts';
import { connect, failure, getTask, LIST, messageOf, requestOf, send } from './client.ts';

let model: ScriptedModel;
let server: TestServer;
let closed: TestServer;

beforeAll(async () => {
  model = scriptedModel(() => ({ say: 'Fine.' }));
  const settings = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake' };
  const listeners = [{ dialect: 'a2a', port: 0 }];
  server = await startTestServer({ ...settings, PARLANCE_TRUSTED_PROXIES: '1' }, { listeners });
  closed = await startTestServer({
    ...settings,
    PARLANCE_AUTH: 'required',
    PARLANCE_API_REQUESTS_PER_MINUTE: '60',
  });
});
afterAll(async () => {
  await server.stop();
  await closed.stop();
  model.stop();
});

type Failure = { jsonrpc: string; id: unknown; error: { code: number; message: string; data?: object[] } };

const post = (body: string, headers: Record<string, string> = {}, at = server) =>
  fetch(`${at.http}/a2a`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });

const rpc = (method: string, params: unknown, id: unknown = 7) =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params });

const errorOf = async (response: Response) => ((await response.json()) as Failure).error;

const hello = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hello' }] };

describe('an invalid request', () => {
  test.each([
    ['{"jsonrpc": "2.0", ', -32700, null],
    ['', -32700, null],
    ['['.repeat(5_000), -32700, null],
    ['"text"', -32600, null],
    ['[]', -32600, null],
    [JSON.stringify({ id: 7, method: 'GetTask', params: {} }), -32600, 7],
    [JSON.stringify({ jsonrpc: '1.0', id: 7, method: 'GetTask', params: {} }), -32600, 7],
    [JSON.stringify({ jsonrpc: '2.0', id: 7 }), -32600, 7],
    [JSON.stringify({ jsonrpc: '2.0', id: {}, method: 'GetTask' }), -32600, null],
    [JSON.stringify({ jsonrpc: '2.0', id: 'x'.repeat(1_100), method: 'GetTask' }), -32600, null],
    [rpc('GetTask', ['id']), -32600, 7],
    [rpc('message/sent', {}), -32601, 7],
    [rpc('message/send', {}), -32602, 7],
    [rpc('tasks/pushNotificationConfig/set', {}), -32602, 7],
    [rpc('toString', {}), -32601, 7],
    [rpc('CreateTaskPushNotificationConfig', {}), -32602, 7],
    [rpc('GetExtendedAgentCard', {}), -32007, 7],
  ])('%p', async (body, code, id) => {
    const response = await post(body);
    expect(response.status).toBe(200);
    const answer = (await response.json()) as Failure;
    expect(answer).toMatchObject({ jsonrpc: '2.0', id, error: { code, message: expect.any(String) } });
  });
});

describe('invalid parameters are −32602 with the name of the field', () => {
  test.each([
    ['SendMessage', {}, 'message'],
    ['SendMessage', { message: { ...hello, messageId: undefined } }, 'messageId'],
    ['SendMessage', { message: { ...hello, messageId: '' } }, 'messageId'],
    ['SendMessage', { message: { ...hello, parts: [] } }, 'parts'],
    ['SendMessage', { message: { ...hello, parts: undefined } }, 'parts'],
    ['SendMessage', { message: { ...hello, parts: [{}] } }, 'parts.0'],
    ['SendMessage', { message: { ...hello, parts: [{ text: 'a', data: 1 }] } }, 'parts.0'],
    ['SendMessage', { message: { ...hello, parts: [{ raw: 'no base64!' }] } }, 'raw'],
    ['SendMessage', { message: { ...hello, parts: [{ text: '  ' }] } }, ''],
    ['SendMessage', { message: { ...hello, role: 'ROLE_AGENT' } }, 'role'],
    ['SendMessage', { message: { ...hello, role: undefined } }, 'role'],
    ['SendMessage', { message: { ...hello, contextId: 'a\nb' } }, 'contextId'],
    ['SendMessage', { message: hello, configuration: { historyLength: -1 } }, 'historyLength'],
    ['SendMessage', { message: hello, metadata: { skillId: 'nobody' } }, 'skillId'],
    ['SendStreamingMessage', { message: { ...hello, parts: [] } }, 'parts'],
    ['GetTask', {}, 'id'],
    ['GetTask', { id: 'x', historyLength: 0.5 }, 'historyLength'],
    ['ListTasks', { pageSize: 0 }, 'pageSize'],
    ['ListTasks', { pageSize: 101 }, 'pageSize'],
    ['ListTasks', { pageToken: 'nonsense' }, 'pageToken'],
    ['ListTasks', { status: 'TASK_STATE_DREAMING' }, 'status'],
    ['ListTasks', { statusTimestampAfter: 'yesterday' }, 'statusTimestampAfter'],
  ])('%p %j', async (method, params, field) => {
    const { code, message } = await errorOf(await post(rpc(method, params)));
    expect(code).toBe(-32602);
    expect(message).toContain(field);
  });
});

test('an unknown task, or one of another user, is not found by any method', async () => {
  const client = await connect(server.http);
  const task = await send(client, 'secret of local');
  const ids = [task.id, 'nonsense', '__proto__'];
  for (const name of ['uma', 'ada']) {
    const authorization = `Bearer ${await server.login(name, `${name}-password`)}`;
    for (const id of ids) {
      const calls = ['GetTask', 'CancelTask', 'SubscribeToTask'].map((method) => rpc(method, { id }));
      calls.push(rpc('SendMessage', { message: { ...hello, taskId: id } }));
      calls.push(rpc('SendStreamingMessage', { message: { ...hello, taskId: id } }));
      for (const call of calls) {
        const text = await (await post(call, { authorization })).text();
        expect(JSON.parse(text).error).toEqual({
          code: -32001,
          message: 'There is no such task.',
          data: [
            {
              '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
              reason: 'TASK_NOT_FOUND',
              domain: 'a2a-protocol.org',
            },
          ],
        });
      }
    }
  }
  expect(await failure(getTask(client, 'nonsense'))).toMatchObject({ name: 'TaskNotFoundError' });
});

test('a message to a task in another context is refused', async () => {
  const task = await send(await connect(server.http), 'hello');
  const message = { ...hello, taskId: task.id, contextId: 'another' };
  expect((await errorOf(await post(rpc('SendMessage', { message })))).code).toBe(-32602);
});

test('a message to a task that has ended is refused', async () => {
  const client = await connect(server.http);
  const { id } = await send(client, 'hello');
  expect(await failure(send(client, 'more', { taskId: id }))).toMatchObject({ envelopeCode: -32004 });
});

describe('the version', () => {
  test.each(['1.0', '1', '1.3', ''])('%p is served', async (version) => {
    const { code } = await errorOf(await post(rpc('GetTask', { id: 'x' }), { 'a2a-version': version }));
    expect(code).toBe(-32001);
  });

  test.each(['0.3', '2.0', '10', 'latest'])('%p is not supported', async (version) => {
    const { code } = await errorOf(await post(rpc('GetTask', { id: 'x' }), { 'a2a-version': version }));
    expect(code).toBe(-32009);
  });
});

test('the address with a slash at its end is the same', async () => {
  const response = await fetch(`${server.http}/a2a/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: rpc('GetTask', { id: 'x' }),
  });
  expect(await errorOf(response)).toMatchObject({ code: -32001 });
});

test('a notification is handled and not answered', async () => {
  const client = await connect(server.http);
  const contextId = crypto.randomUUID();
  for (const method of ['SendMessage', 'SendStreamingMessage']) {
    const message = { ...hello, messageId: method, contextId };
    const response = await post(JSON.stringify({ jsonrpc: '2.0', method, params: { message } }));
    expect([response.status, await response.text()]).toEqual([204, '']);
  }
  const { tasks } = await client.listTasks({ ...LIST, contextId });
  expect(tasks).toHaveLength(2);
});

test('names as in the definition of the protocol are accepted', async () => {
  const task = await send(await connect(server.http), 'hello');
  const answer = await (await post(rpc('GetTask', { id: task.id, history_length: 0 }))).json();
  expect((answer as { result: object }).result).not.toHaveProperty('history');
  const listed = await post(rpc('ListTasks', { context_id: task.contextId, page_size: 1 }));
  expect(await listed.json()).toMatchObject({ result: { totalSize: 1, pageSize: 1 } });
});

describe('−32005', () => {
  test('a body that is not JSON', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx'])
      expect((await errorOf(await post('{', { 'content-type': type }))).code).toBe(-32005);
    for (const type of ['application/json; charset=utf-8', 'application/a2a+json'])
      expect((await errorOf(await post('{', { 'content-type': type }))).code).toBe(-32700);
  });

  test('a file that no model reads', async () => {
    const file = (mediaType: string) => ({
      ...hello,
      messageId: mediaType,
      parts: [{ raw: 'aGk=', mediaType }],
    });
    for (const type of ['application/x-unknown', 'video/mp4', 'image/tiff'])
      expect((await errorOf(await post(rpc('SendMessage', { message: file(type) })))).code).toBe(-32005);
    for (const type of ['text/csv', 'application/pdf', 'image/png'])
      expect(await (await post(rpc('SendMessage', { message: file(type) }))).json()).toHaveProperty('result');
  });
});

describe('without a valid token', () => {
  test.each(['', 'Bearer nonsense', 'Basic dXNlcjpwYXNz'])(
    '%p is 401 with an error as body',
    async (authorization) => {
      const headers: Record<string, string> = authorization === '' ? {} : { authorization };
      const response = await post(rpc('ListTasks', {}), headers, closed);
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toBe('Bearer');
      expect(await response.json()).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32000 } });
    },
  );

  test('the client throws the error', async () => {
    const client = await connect(closed.http);
    const thrown = await failure(client.sendMessage(requestOf(messageOf('hi'))));
    expect(thrown).toMatchObject({ name: 'JsonRpcTransportError', message: 'A token is required.' });
  });

  test('a token and an API key are accepted, but not a revoked key or one for other dialects', async () => {
    const client = await connect(closed.http);
    const token = await closed.login('dev', 'dev-password');
    const bearer = (given: string) => ({ Authorization: `Bearer ${given}` });
    const keyFor = async (dialects: string[]) => {
      const { body } = await postJson(`${closed.http}/v1/keys`, { name: 'a2a', dialects }, bearer(token));
      return body as { id: string; key: string };
    };
    const say = (given: string) =>
      client.sendMessage(requestOf(messageOf('hi')), { serviceParameters: bearer(given) });
    const [own, other] = [await keyFor(['a2a']), await keyFor(['native'])];
    for (const given of [token, own.key]) expect(await say(given)).toMatchObject({ artifacts: [{}] });
    const forbidden = await post(rpc('ListTasks', {}), bearer(other.key), closed);
    expect([forbidden.status, (await errorOf(forbidden)).code]).toEqual([403, -32000]);
    await fetch(`${closed.http}/v1/keys/${own.id}`, { method: 'DELETE', headers: bearer(token) });
    expect((await post(rpc('ListTasks', {}), bearer(own.key), closed)).status).toBe(401);
  });
});

test('a caller with too many requests gets 429 with a retry time', async () => {
  const authorization = `Bearer ${await closed.login('uma', 'uma-password')}`;
  let refused: Response | null = null;
  for (let count = 0; count < 200 && !refused; count++) {
    const response = await post(rpc('ListTasks', {}), { authorization }, closed);
    if (response.status !== 200) refused = response;
  }
  expect(refused?.status).toBe(429);
  expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(refused && (await errorOf(refused)).code).toBe(-32000);
});

test('a body that is too large is refused with 413', async () => {
  const large = rpc('SendMessage', { message: { ...hello, parts: [{ text: 'x'.repeat(60_000_000) }] } });
  const response = await post(large);
  expect(response.status).toBe(413);
});

test('another method is refused in the format of the protocol', async () => {
  const response = await fetch(`${server.http}/a2a`);
  expect(response.status).toBe(405);
  expect(await response.json()).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32000 } });
});

describe('the agent card', () => {
  /** `fetch` sets the Host header itself. */
  const cardAs = (headers: Record<string, string>) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const asked = httpRequest(
        `${server.http}/.well-known/agent-card.json`,
        { headers },
        async (response) => {
          let text = '';
          for await (const chunk of response) text += chunk;
          resolve({ status: response.statusCode ?? 0, text });
        },
      );
      asked.on('error', reject).end();
    });
  const urlAs = async (headers: Record<string, string>): Promise<string> =>
    JSON.parse((await cardAs(headers)).text).supportedInterfaces[0].url;

  test('is public, and has a skill for each agent', async () => {
    const response = await fetch(`${closed.http}/.well-known/agent-card.json`);
    expect(response.status).toBe(200);
    const card = (await response.json()) as Record<string, unknown> & { skills: { id: string }[] };
    expect(card).toMatchObject({
      name: expect.any(String),
      description: expect.any(String),
      version: expect.any(String),
      supportedInterfaces: [
        { url: `${closed.http}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        { url: `${closed.http}/a2a`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
        { url: `${closed.http}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
      ],
      capabilities: { streaming: true, pushNotifications: true },
      securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
      securityRequirements: [{ schemes: { bearer: { list: [] } } }],
      defaultOutputModes: ['text/plain'],
    });
    expect(card.skills.map(({ id }) => id)).toContain('coder');
    for (const skill of card.skills)
      expect(skill).toEqual({
        id: expect.any(String),
        name: expect.any(String),
        description: expect.any(String),
        tags: expect.any(Array),
      } as never);
  });

  test('asks for no token if the server requires none', async () => {
    const card = await (await fetch(`${server.http}/.well-known/agent-card.json`)).json();
    expect(Object.keys(card as object)).not.toContainAnyValues([
      'securitySchemes',
      'securityRequirements',
      'security',
    ]);
  });

  test('has the fields of 0.3 only for clients that do not name a version', async () => {
    const address = `${closed.http}/.well-known/agent-card.json`;
    const [older, newer] = await Promise.all(
      ['', '1.0'].map(async (version) =>
        (await fetch(address, { headers: { 'A2A-Version': version } })).json(),
      ),
    );
    const fields = { url: `${closed.http}/a2a`, preferredTransport: 'JSONRPC', protocolVersion: '0.3.0' };
    expect(older).toMatchObject({ ...fields, security: [{ bearer: [] }] });
    expect(Object.keys(newer as object)).not.toContainAnyValues([...Object.keys(fields), 'security']);
  });

  test('can be cached', async () => {
    const address = `${server.http}/.well-known/agent-card.json`;
    const { status, headers } = await fetch(address);
    expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=60']);
    expect(Date.parse(headers.get('last-modified') ?? '')).toBeGreaterThan(0);
    const etag = headers.get('etag') ?? '';
    const known = await fetch(address, { headers: { 'if-none-match': etag } });
    expect([known.status, known.headers.get('etag'), await known.text()]).toEqual([304, etag, '']);
    const other = await fetch(address, { headers: { 'if-none-match': etag, 'A2A-Version': '1.0' } });
    expect(other.status).toBe(200);
  });

  test('has the address under which it was requested', async () => {
    const { port } = new URL(server.http);
    expect(await urlAs({ host: `localhost:${port}` })).toBe(`http://localhost:${port}/a2a`);
    expect(await urlAs({ host: '127.0.0.1:9999' })).toBe('http://127.0.0.1:9999/a2a');
    const behind = { host: 'localhost', 'x-forwarded-proto': 'https' };
    expect(await urlAs(behind)).toBe('https://localhost/a2a');
  });

  test('is not served under a foreign host name', async () => {
    const foreign = await cardAs({ host: 'evil.example' });
    expect(foreign.status).toBe(403);
    expect(JSON.parse(foreign.text)).toMatchObject({ jsonrpc: '2.0', error: { code: -32000 } });
    for (const host of ['evil.example', 'localhost@evil.example', '"><script>'])
      expect(await urlAs({ host: 'localhost', 'x-forwarded-host': host })).toBe('http://localhost/a2a');
  });

  test('is served on an extra listener as well', async () => {
    const { port } = server.running.listeners.find(({ dialect }) => dialect === 'a2a') ?? {};
    const client = await connect(`http://127.0.0.1:${port}`);
    expect((await client.getAgentCard()).supportedInterfaces[0]?.url).toBe(`http://127.0.0.1:${port}/a2a`);
    expect((await send(client, 'hello')).artifacts).toHaveLength(1);
  });
});
