/** Failures in the shape of the protocol, and the rules of the transport. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { type FakeModel, fakeModel } from '../fake-model.ts';
import { followed } from '../server-process.ts';
import { connect, ERAS } from './clients.ts';

let model: FakeModel;
let server: TestServer;
let closed: TestServer;
beforeAll(async () => {
  model = fakeModel(() => ({ say: 'Fine.' }));
  const settings = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake' };
  server = await startTestServer(settings, { doors: [{ dialect: 'mcp', port: 0 }] });
  closed = await startTestServer({ ...settings, PARLANCE_AUTH: 'required' });
});
afterAll(async () => {
  await server.stop();
  await closed.stop();
  model.stop();
});

const ACCEPT = 'application/json, text/event-stream';

const post = (body: unknown, headers: Record<string, string> = {}, http = server.http) =>
  fetch(`${http}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: ACCEPT, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

const request = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 7, method, params });

const modern = (method: string, params: object = {}, version = '2026-07-28') =>
  request(method, {
    ...params,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': version,
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  });

async function failure(response: Response) {
  const { jsonrpc, id, error } = (await response.json()) as {
    jsonrpc: string;
    id: unknown;
    error: { code: number; message: string; data?: object };
  };
  expect(jsonrpc).toBe('2.0');
  expect(error.message).toMatch(/\w/);
  return { status: response.status, id, code: error.code, data: error.data };
}

describe('requests that do not fit', () => {
  test.each([
    ['{', -32_700],
    ['', -32_700],
    ['"text"', -32_600],
    ['null', -32_600],
    ['[]', -32_600],
    ['{}', -32_600],
    ['{"jsonrpc":"1.0","id":1,"method":"ping"}', -32_600],
    ['{"jsonrpc":"2.0","id":{},"method":"ping"}', -32_600],
    ['{"jsonrpc":"2.0","id":1,"method":7}', -32_600],
    [`${'['.repeat(100_000)}${']'.repeat(100_000)}`, -32_700],
    [JSON.stringify(Array.from({ length: 51 }, () => request('ping'))), -32_600],
    [JSON.stringify([request('initialize')]), -32_600],
  ])('%p is refused with 400', async (body, code) => {
    expect(await failure(await post(body))).toMatchObject({ status: 400, code });
  });

  test.each([
    ['2025', (method: string, params?: object) => request(method, params)],
    ['2026', (method: string, params?: object) => modern(method, params)],
  ])('in %s: unknown methods, tools and resources', async (_, made) => {
    for (const method of ['nothing', 'prompts/list', 'logging/setLevel', 'constructor', '__proto__'])
      expect(await failure(await post(made(method)))).toMatchObject({ status: 200, id: 7, code: -32_601 });
    for (const name of ['nothing', undefined, 7, 'toString'])
      expect(await failure(await post(made('tools/call', { name })))).toMatchObject({ id: 7, code: -32_602 });
    for (const uri of [undefined, 7, {}])
      expect(await failure(await post(made('resources/read', { uri })))).toMatchObject({ code: -32_602 });
    expect(
      await failure(await post(made('resources/read', { uri: 'parlance://sessions/none' }))),
    ).toMatchObject({
      status: 200,
      id: 7,
      code: -32_002,
    });
    expect(await failure(await post(made('resources/list', { cursor: 'nonsense' })))).toMatchObject({
      code: -32_602,
    });
  });

  test('methods of one era do not exist in the other', async () => {
    for (const method of ['initialize', 'ping', 'resources/subscribe'])
      expect(await failure(await post(modern(method)))).toMatchObject({ code: -32_601 });
    for (const method of ['server/discover', 'subscriptions/listen'])
      expect(await failure(await post(request(method)))).toMatchObject({ code: -32_601 });
  });

  test('the client of each era reports the code', async () => {
    for (const era of ERAS) {
      const { client, call, close } = await connect(era, server.http);
      await expect(call('nothing')).rejects.toMatchObject({ code: -32_602 });
      await expect(client.readResource({ uri: 'parlance://sessions/none' })).rejects.toMatchObject({
        code: -32_002,
      });
      await close();
    }
  });
});

describe('protocol versions', () => {
  test('an unknown one is refused with 400', async () => {
    const old = await post(request('ping'), { 'mcp-protocol-version': '1999-01-01' });
    expect(old.status).toBe(400);
    const { status, id, code, data } = await failure(await post(modern('tools/list', {}, '2031-01-01')));
    expect({ status, id, code }).toEqual({ status: 400, id: 7, code: -32_022 });
    expect(data).toEqual({ supported: ['2026-07-28'], requested: '2031-01-01' });
  });

  test.each(['2025-03-26', '2025-06-18', '2025-11-25'])('%s is agreed on', async (protocolVersion) => {
    const response = await post(request('initialize', { protocolVersion, capabilities: {}, clientInfo: {} }));
    expect(await response.json()).toMatchObject({
      result: { protocolVersion, serverInfo: { name: 'parlance' } },
    });
    const session = response.headers.get('mcp-session-id') ?? '';
    expect(session).toMatch(/^[\x21-\x7e]+$/);
    const headers = { 'mcp-session-id': session, 'mcp-protocol-version': protocolVersion };
    expect(await (await post(request('ping'), headers)).json()).toEqual({
      jsonrpc: '2.0',
      id: 7,
      result: {},
    });
  });

  test('a client that asks for another is offered the latest', async () => {
    const response = await post(request('initialize', { protocolVersion: '2031-01-01', capabilities: {} }));
    expect(await response.json()).toMatchObject({ result: { protocolVersion: '2025-11-25' } });
  });

  test('results of 2026 say that they are complete, and how long they may be kept', async () => {
    const discover = (await (await post(modern('server/discover'))).json()) as { result: object };
    expect(discover.result).toMatchObject({
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {}, resources: { subscribe: true, listChanged: true } },
      ttlMs: expect.any(Number),
      cacheScope: 'private',
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'parlance' } },
    });
    for (const method of ['tools/list', 'resources/list', 'resources/templates/list'])
      expect(await (await post(modern(method))).json()).toMatchObject({
        result: { resultType: 'complete', ttlMs: expect.any(Number), cacheScope: 'private' },
      });
    const call = modern('tools/call', { name: 'list_sessions', arguments: {} });
    expect(await (await post(call)).json()).toMatchObject({ result: { resultType: 'complete' } });
    expect(JSON.stringify(await (await post(request('tools/list'))).json())).not.toContain('resultType');
  });

  test('headers of 2026 must agree with the body', async () => {
    const call = modern('tools/call', { name: 'list_sessions' });
    for (const [name, value] of [
      ['mcp-protocol-version', '2025-11-25'],
      ['mcp-method', 'tools/list'],
      ['mcp-name', 'cancel_turn'],
    ] as const)
      expect(await failure(await post(call, { [name]: value }))).toMatchObject({
        status: 400,
        id: 7,
        code: -32_020,
      });
    const named = { 'mcp-method': 'tools/call', 'mcp-name': `=?base64?${btoa('list_sessions')}?=` };
    expect((await post(call, { 'mcp-protocol-version': '2026-07-28', ...named })).status).toBe(200);
    const bare = await failure(await post(request('tools/list'), { 'mcp-protocol-version': '2026-07-28' }));
    expect(bare).toMatchObject({ status: 400, code: -32_602 });
  });
});

describe('callers', () => {
  test.each(['POST', 'GET', 'DELETE'])('without a token, or with a bad one, %s is 401', async (method) => {
    for (const token of [null, 'nonsense', 'a.b.c']) {
      const response = await fetch(`${closed.http}/mcp`, {
        method,
        headers: { accept: ACCEPT, ...(token && { authorization: `Bearer ${token}` }) },
        ...(method === 'POST' && { body: JSON.stringify(request('ping')) }),
      });
      expect(response.headers.get('www-authenticate')).toStartWith('Bearer');
      expect(await failure(response)).toMatchObject({ status: 401, id: null });
    }
  });

  test('a bad token is refused in open mode, too', async () => {
    expect((await post(request('ping'), { authorization: 'Bearer a.b.c' })).status).toBe(401);
  });

  test('the clients report it', async () => {
    await expect(connect('2025', closed.http)).rejects.toMatchObject({ code: 401 });
    await expect(connect('2026', closed.http)).rejects.toThrow('HTTP 401');
  });

  test('a foreign origin or host is 403, also without a token', async () => {
    for (const http of [server.http, closed.http])
      for (const headers of [{ origin: 'https://evil.example' }, { host: 'evil.example' }])
        expect(await failure(await post(request('ping'), headers as never, http))).toMatchObject({
          status: 403,
        });
  });

  test('too many requests are 429, a body that is too large 413', async () => {
    const limited = await startTestServer({
      PARLANCE_API_REQUESTS_PER_MINUTE: '2',
      PARLANCE_MAX_BODY: '2000',
    });
    const large = request('ping', { text: 'x'.repeat(3_000) });
    expect((await post(large, {}, limited.http)).status).toBe(413);
    for (let count = 0; count < 2; count++) await post(request('ping'), {}, limited.http);
    const response = await post(request('ping'), {}, limited.http);
    expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(await failure(response)).toMatchObject({ status: 429 });
    await limited.stop();
  });

  test('an API key for other dialects is 403', async () => {
    const dev = await server.login('dev', 'dev-password');
    const made = await fetch(`${server.http}/v1/keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${dev}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'other', dialects: ['native'] }),
    });
    const { key } = (await made.json()) as { key: string };
    expect(await failure(await post(request('ping'), { authorization: `Bearer ${key}` }))).toMatchObject({
      status: 403,
    });
  });
});

describe('the transport', () => {
  test('a session id that is not known is not refused', async () => {
    for (const session of ['from-before-a-restart', '2025-06-18.forms.1', '2025-11-25.plain.'])
      expect(await (await post(request('ping'), { 'mcp-session-id': session })).json()).toMatchObject({
        result: {},
      });
  });

  test('notifications and answers are 202, without a body', async () => {
    for (const message of [
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 99 } },
      { jsonrpc: '2.0', method: 'notifications/unheard' },
      { jsonrpc: '2.0', id: 'nothing/1', result: { action: 'accept', content: { answer: 'once' } } },
      { jsonrpc: '2.0', id: 5, error: { code: -32_601, message: 'no' } },
    ]) {
      const response = await post(message);
      expect([response.status, await response.text()]).toEqual([202, '']);
    }
  });

  test('a batch is answered as one', async () => {
    const batch = [
      request('ping'),
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { ...request('nothing'), id: 8 },
    ];
    expect(await (await post(batch)).json()).toMatchObject([
      { id: 7, result: {} },
      { id: 8, error: { code: -32_601 } },
    ]);
    expect((await post([{ jsonrpc: '2.0', method: 'notifications/initialized' }])).status).toBe(202);
  });

  test('a client that accepts JSON only is answered whole', async () => {
    const call = request('tools/call', { name: 'send_message', arguments: { text: 'hi' } });
    const response = await post(call, { accept: 'application/json' });
    expect(response.headers.get('content-type')).toStartWith('application/json');
    expect(await response.json()).toMatchObject({ id: 7, result: { structuredContent: { text: 'Fine.' } } });
  });

  test('GET is a stream of events, DELETE ends it', async () => {
    expect((await fetch(`${server.http}/mcp`, { headers: { accept: 'application/json' } })).status).toBe(406);
    const began = await post(request('initialize', { protocolVersion: '2025-11-25', capabilities: {} }));
    const headers = {
      accept: 'text/event-stream',
      'mcp-session-id': began.headers.get('mcp-session-id') ?? '',
    };
    const stream = await fetch(`${server.http}/mcp`, { headers });
    expect(stream.headers.get('content-type')).toBe('text/event-stream');
    const ended = await fetch(`${server.http}/mcp`, { method: 'DELETE', headers });
    expect(ended.ok).toBeTrue();
    await stream.text();
  });

  test('in 2026 there is POST alone', async () => {
    for (const method of ['GET', 'DELETE']) {
      const headers = { accept: ACCEPT, 'mcp-protocol-version': '2026-07-28' };
      const response = await fetch(`${server.http}/mcp`, { method, headers });
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
    }
  });

  test('a page of another origin that is allowed can read the session id', async () => {
    const headers = { origin: 'http://localhost:6274' };
    const response = await post(request('initialize', { capabilities: {} }), headers);
    expect(response.headers.get('access-control-allow-origin')).toBe(headers.origin);
    expect(response.headers.get('access-control-expose-headers')).toContain('mcp-session-id');
  });

  test('an event id of another user or of nobody does not resume anything', async () => {
    const dev = await connect('2025', server.http, { token: await server.login('dev', 'dev-password') });
    const { session, turn } = await dev.turn('send_message', { text: 'secret words' });
    await dev.close();
    const state = { session, turn, after: 0, request: 1, until: Date.now() + 60_000 };
    for (const id of [Buffer.from(JSON.stringify(state)).toString('base64url'), 'nonsense', '%%%']) {
      const headers = { accept: 'text/event-stream', 'last-event-id': id, 'mcp-session-id': 'mine' };
      const stop = new AbortController();
      const stream = await fetch(`${server.http}/mcp`, { headers, signal: stop.signal });
      const own = `own ${id.length}`;
      let text = '';
      await post(request('tools/call', { name: 'send_message', arguments: { text: 'mine', session: own } }));
      await followed(server, encodeURIComponent(own), (events) =>
        events.some(({ type }) => type === 'turn.ended'),
      );
      for await (const chunk of stream.body ?? []) {
        text += new TextDecoder().decode(chunk);
        if (text.includes(encodeURIComponent(own))) break;
      }
      stop.abort();
      expect(text).not.toContain(turn);
      expect(text).not.toContain('Fine.');
    }
  });

  test('a requestState of another user or of nobody is -32602, and begins nothing', async () => {
    const dev = await connect('2026', server.http, { token: await server.login('dev', 'dev-password') });
    const { session, turn } = await dev.turn('send_message', { text: 'secret words' });
    await dev.close();
    const foreign = Buffer.from(JSON.stringify({ session, turn, after: 0 })).toString('base64url');
    const asked = model.requests.length;
    for (const requestState of [foreign, 'nonsense', '']) {
      const params = { name: 'send_message', arguments: { text: 'hi' }, requestState };
      const response = await post(modern('tools/call', params), { accept: 'application/json' });
      expect(await failure(response)).toMatchObject({ code: -32_602 });
    }
    expect(model.requests).toHaveLength(asked);
  });

  test('a listener of its own serves the same path', async () => {
    const { port } = server.running.doors.find(({ dialect }) => dialect === 'mcp') ?? {};
    const { call, close } = await connect('2025', `http://127.0.0.1:${port}`);
    expect((await call('list_sessions')).isError).toBeUndefined();
    await close();
    const missing = await fetch(`http://127.0.0.1:${port}/nothing`);
    expect(missing.status).toBe(404);
  });
});
