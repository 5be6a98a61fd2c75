/** Errors in the format of the protocol. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { type ScriptedModel, scriptedModel } from '../scripted-model.ts';
import { connect, ERAS } from './clients.ts';
import { ACCEPT, failure, modern, postTo, request } from './raw.ts';

let model: ScriptedModel;
let server: TestServer;
let closed: TestServer;
beforeAll(async () => {
  model = scriptedModel(() => ({ say: 'Fine.' }));
  const settings = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake' };
  server = await startTestServer(settings);
  closed = await startTestServer({ ...settings, PARLANCE_AUTH: 'required' });
});
afterAll(async () => {
  await server.stop();
  await closed.stop();
  model.stop();
});

const post = (body: unknown, headers: Record<string, string> = {}, http = server.http) =>
  postTo(http, body, headers);

describe('invalid requests', () => {
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
  ])('in %s: unknown methods, tools and resources', async (era, made) => {
    const isModern = era === '2026';
    for (const method of ['nothing', 'tasks/list', 'constructor', '__proto__'])
      expect(await failure(await post(made(method)))).toMatchObject({
        status: isModern ? 404 : 200,
        id: 7,
        code: -32_601,
      });
    for (const name of ['nothing', undefined, 7, 'toString'])
      expect(await failure(await post(made('tools/call', { name })))).toMatchObject({ id: 7, code: -32_602 });
    for (const uri of [undefined, 7, {}])
      expect(await failure(await post(made('resources/read', { uri })))).toMatchObject({ code: -32_602 });
    expect(
      await failure(await post(made('resources/read', { uri: 'parlance://sessions/none' }))),
    ).toMatchObject({
      status: 200,
      id: 7,
      code: isModern ? -32_602 : -32_002,
    });
    expect(await failure(await post(made('resources/list', { cursor: 'nonsense' })))).toMatchObject({
      code: -32_602,
    });
  });

  test('methods of one era do not exist in the other', async () => {
    for (const method of ['initialize', 'ping', 'logging/setLevel', 'resources/subscribe'])
      expect(await failure(await post(modern(method)))).toMatchObject({ status: 404, code: -32_601 });
    for (const method of ['server/discover', 'subscriptions/listen'])
      expect(await failure(await post(request(method)))).toMatchObject({ code: -32_601 });
  });

  test('the client of each era reports the code', async () => {
    for (const era of ERAS) {
      const { client, call, close } = await connect(era, server.http);
      await expect(call('nothing')).rejects.toMatchObject({ code: -32_602 });
      await expect(client.readResource({ uri: 'parlance://sessions/none' })).rejects.toMatchObject({
        code: era === '2026' ? -32_602 : -32_002,
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

  test('a client that requests another is offered the latest', async () => {
    const response = await post(request('initialize', { protocolVersion: '2031-01-01', capabilities: {} }));
    expect(await response.json()).toMatchObject({ result: { protocolVersion: '2025-11-25' } });
  });

  test('results of 2026 are marked as complete, with a cache time', async () => {
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
    await post(request('tools/call', { name: 'send_message', arguments: { text: 'hi', session: 'read' } }));
    const read = modern('resources/read', { uri: 'parlance://sessions/read' });
    expect(await (await post(read)).json()).toMatchObject({
      result: { resultType: 'complete', ttlMs: expect.any(Number), cacheScope: 'private' },
    });
    const call = modern('tools/call', { name: 'list_sessions', arguments: {} });
    expect(await (await post(call)).json()).toMatchObject({ result: { resultType: 'complete' } });
    expect(JSON.stringify(await (await post(request('tools/list'))).json())).not.toContain('resultType');
  });

  test('headers of 2026 must match the body', async () => {
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
  test.each(['POST', 'GET', 'DELETE'])(
    'without a token, or with an invalid one, %s is 401',
    async (method) => {
      for (const token of [null, 'nonsense', 'a.b.c']) {
        const response = await fetch(`${closed.http}/mcp`, {
          method,
          headers: { accept: ACCEPT, ...(token && { authorization: `Bearer ${token}` }) },
          ...(method === 'POST' && { body: JSON.stringify(request('ping')) }),
        });
        expect(response.headers.get('www-authenticate')).toStartWith('Bearer');
        expect(await failure(response)).toMatchObject({ status: 401, id: null });
      }
    },
  );

  test('an invalid token is refused even in open mode', async () => {
    expect((await post(request('ping'), { authorization: 'Bearer a.b.c' })).status).toBe(401);
  });

  test('the clients report it', async () => {
    await expect(connect('2025', closed.http)).rejects.toMatchObject({ code: 401 });
    await expect(connect('2026', closed.http)).rejects.toThrow('HTTP 401');
  });

  test('a foreign origin or host is 403, even without a token', async () => {
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
