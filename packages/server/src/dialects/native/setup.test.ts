import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type ScriptedModel, scriptedModel } from '../../../../../e2e/scripted-model.ts';
import { startTestServer, type TestServer } from '../../testing/server.ts';
import { until } from '../../testing/until.ts';

type Json = Record<string, unknown>;
type Settings = { version: number; problem: string | null; stored: Json; secrets: string[]; given: Json };

const KEY = 'sk-test-hunter2hunter2';
let server: TestServer;
let model: ScriptedModel;
let vendor: ReturnType<typeof Bun.serve>;
/** requests to the vendor */
let requests = 0;
let ada: string;

beforeAll(async () => {
  model = scriptedModel(() => ({ say: 'Hello from the fake model.' }));
  vendor = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      requests++;
      const { pathname } = new URL(request.url);
      const key = request.headers.get('authorization') ?? request.headers.get('x-api-key');
      if (key?.includes('wrong')) return new Response('{}', { status: 401 });
      if (pathname === '/moved/models') return Response.redirect('http://127.0.0.1:9/');
      if (pathname === '/v1/models')
        return Response.json({ data: [{ id: 'small' }, { id: 'large' }, { id: `key ${key}` }] });
      return new Response('{}', { status: 404 });
    },
  });
  server = await startTestServer();
  ada = await server.login('ada', 'ada-password');
});
afterAll(async () => {
  await server.stop();
  model.stop();
  await vendor.stop(true);
});

async function asked(
  method: string,
  path: string,
  options: { body?: unknown; token?: string | null; headers?: Record<string, string> } = {},
) {
  const { body, token = ada, headers } = options;
  const response = await fetch(server.http + path, {
    method,
    headers: {
      'content-type': 'application/json',
      ...(token && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, text, body: (text === '' ? {} : JSON.parse(text)) as Json };
}

const settings = async (token: string | null = ada) =>
  (await asked('GET', '/v1/admin/settings', { token })).body as unknown as Settings;

async function change(
  values: Json,
  options: { token?: string | null; headers?: Record<string, string> } = {},
) {
  const { version } = await settings();
  return asked('PATCH', '/v1/admin/settings', { ...options, body: { version, values } });
}

async function answerTo(session: string, text: string): Promise<string> {
  const input = { type: 'input.submit', parts: [{ type: 'text', text }] };
  await asked('POST', `/v1/sessions/${session}/commands`, { body: input });
  const events = await until(async () => {
    const { events } = (await asked('GET', `/v1/sessions/${session}/events`)).body as { events: Json[] };
    return events.some(({ type }) => type === 'turn.ended') && events;
  });
  return events.flatMap((event) => (event.type === 'text.ended' ? [String(event.text)] : [])).join();
}

describe('the model', () => {
  test('is connected without a restart, and its key is stored encrypted and never returned', async () => {
    const stored = await change({
      openaiBaseUrl: model.url,
      openaiKey: KEY,
      model: 'fake-1',
      provider: 'openai',
    });
    expect(stored.status).toBe(200);
    expect(stored.body).toMatchObject({
      model: { provider: 'openai', model: 'fake-1', address: model.url },
      stored: { openaiBaseUrl: model.url, model: 'fake-1' },
      secrets: ['openaiKey'],
    });
    expect(stored.text).not.toContain(KEY);
    expect(await answerTo('connected', 'hi')).toBe('Hello from the fake model.');
    expect((await asked('GET', '/v1/server')).body).toMatchObject({ provider: 'openai', model: 'fake-1' });
    const rows = new Database(join(server.data, databaseIn(server.data)), { readonly: true })
      .query('SELECT value FROM settings')
      .all();
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain(KEY);
  });

  test('goes back to the offline model when the settings are removed', async () => {
    await change({ openaiBaseUrl: null, openaiKey: null, model: null, provider: null });
    expect((await asked('GET', '/v1/server')).body).toMatchObject({ provider: 'offline' });
    expect((await settings()).secrets).toEqual([]);
  });

  test('a key is forgotten when its address changes', async () => {
    await change({ openaiBaseUrl: model.url, openaiKey: KEY });
    await change({ openaiBaseUrl: 'http://127.0.0.1:9/v1' });
    expect((await settings()).secrets).toEqual([]);
    await change({ openaiBaseUrl: null });
  });

  test('a key is kept if only the way to write its address changes', async () => {
    await change({ openaiBaseUrl: model.url, openaiKey: KEY });
    await change({ openaiBaseUrl: `${model.url.replace(/\/v1$/, '')}/` });
    expect(await settings()).toMatchObject({ secrets: ['openaiKey'], keyProblems: {} });
    await change({ openaiBaseUrl: null, openaiKey: null });
  });

  test('settings that contradict each other are refused and change nothing', async () => {
    const before = await settings();
    expect(await change({ provider: 'anthropic' })).toMatchObject({
      status: 400,
      body: {
        error: {
          message: expect.stringContaining('needs an API key for claude-opus-4-7: set ANTHROPIC_API_KEY'),
        },
      },
    });
    expect(await change({ openaiBaseUrl: 'ftp://x' })).toMatchObject({ status: 400 });
    expect(await change({ port: 1 })).toMatchObject({
      status: 400,
      body: { error: { message: 'The setting port cannot be changed here.' } },
    });
    expect(await settings()).toEqual(before);
  });

  test('the second of two changes based on the same version is refused', async () => {
    const { version } = await settings();
    const body = { version, values: { model: 'offline' } };
    expect((await asked('PATCH', '/v1/admin/settings', { body })).status).toBe(200);
    expect((await asked('PATCH', '/v1/admin/settings', { body })).status).toBe(409);
    await change({ model: null });
  });
});

describe('the list of models', () => {
  const ask = (question: Json) => asked('POST', '/v1/admin/models', { body: question });
  const address = () => `http://127.0.0.1:${vendor.port}/v1`;

  test('is the one of the vendor', async () => {
    expect((await ask({ provider: 'openai', address: address(), key: 'k' })).body).toEqual({
      models: ['key Bearer k', 'large', 'small'],
      address: address(),
    });
    expect(
      (await ask({ provider: 'anthropic', address: `http://127.0.0.1:${vendor.port}`, key: 'k' })).body,
    ).toEqual({
      models: ['key k', 'large', 'small'],
      address: `http://127.0.0.1:${vendor.port}`,
    });
  });

  test('a stored key is not sent to another base URL', async () => {
    await change({ openaiBaseUrl: model.url, openaiKey: KEY });
    expect((await ask({ provider: 'openai', address: address() })).body.models).toEqual([
      'key null',
      'large',
      'small',
    ]);
    await change({ openaiBaseUrl: null });
  });

  test('an address without /v1, with a slash or with the path of an endpoint is completed', async () => {
    const { port } = vendor;
    for (const path of ['', '/', '/v1/', '/v1/chat/completions', '/chat/completions', '/v1/models'])
      expect(
        (await ask({ provider: 'openai', address: `http://127.0.0.1:${port}${path}` })).body,
      ).toMatchObject({
        address: address(),
      });
  });

  test('of every configured provider is there for everyone who may chat, the one in use first', async () => {
    const uma = await server.login('uma', 'uma-password');
    const lists = async () => (await asked('GET', '/v1/server/models', { token: uma })).body.providers;
    expect(await lists()).toEqual([]);
    const host = `127.0.0.1:${vendor.port}`;
    const anthropicBaseUrl = 'http://127.0.0.1:9';
    await change({ provider: 'openai', openaiBaseUrl: address(), model: 'small', anthropicBaseUrl });
    expect(await lists()).toEqual([
      {
        provider: 'openai',
        label: host,
        models: ['key null', 'large', 'small'].map((name) => ({ id: name, name })),
        problem: null,
      },
      {
        provider: 'anthropic',
        label: '127.0.0.1:9',
        models: [],
        problem: expect.stringContaining('Nothing listens at 127.0.0.1:9.'),
      },
    ]);
    await change({ provider: 'anthropic', model: null, anthropicBaseUrl: `http://${host}` });
    const [first, second] = (await lists()) as Json[];
    expect(first).toMatchObject({ provider: 'anthropic', models: [{}, { id: 'large' }, {}] });
    expect(second).toMatchObject({
      provider: 'openai',
      models: [{}, { id: 'openai:large', name: 'large' }, {}],
    });
    await change({ provider: null, openaiBaseUrl: null, anthropicBaseUrl: null });
  });

  test('is requested once a minute, and again when the settings change or it has failed', async () => {
    const before = requests;
    const list = () => asked('GET', '/v1/server/models', { token: null });
    await change({ openaiBaseUrl: address(), model: 'small' });
    await Promise.all([list(), list()]);
    await list();
    expect(requests - before).toBe(1);
    await change({ model: 'large' });
    await list();
    expect(requests - before).toBe(2);
    await change({ openaiBaseUrl: `http://127.0.0.1:${vendor.port}/missing/v1` });
    await list();
    await list();
    expect(requests - before).toBe(4);
    await change({ openaiBaseUrl: null, model: null });
  });
});

describe('permission to change the setup', () => {
  test('is refused to users and developers', async () => {
    for (const name of ['dev', 'uma']) {
      const token = await server.login(name, `${name}-password`);
      expect((await asked('GET', '/v1/admin/settings', { token })).status).toBe(403);
      expect((await change({ model: 'offline' }, { token })).status).toBe(403);
      expect((await asked('POST', '/v1/admin/models', { token, body: { provider: 'openai' } })).status).toBe(
        403,
      );
      expect((await asked('GET', '/v1/admin/origins', { token })).status).toBe(403);
    }
  });

  test('in open mode the local user may connect a model and MCP servers, but not configure access', async () => {
    expect((await change({ model: 'offline' }, { token: null })).status).toBe(200);
    expect((await change({ model: null }, { token: null })).status).toBe(200);
    await change({ allowedOrigins: ['https://secret.example'] });
    expect((await settings(null)).stored).toEqual({});
    expect((await change({ allowedOrigins: [] }, { token: null })).status).toBe(403);
    expect((await asked('POST', '/v1/admin/mcp/x/restart', { token: null })).status).toBe(404);
    const mcpServers = {
      x: { command: process.execPath, args: ['-e', 'console.error("why"); process.exit(3)'] },
    };
    expect((await change({ mcpServers }, { token: null })).status).toBe(200);
    const listed = () => asked('GET', '/v1/admin/mcp', { token: null });
    const failed = await until(async () => {
      const [server] = (await listed()).body.servers as (Json & { error: { message: string } | null })[];
      return server?.error?.message.includes('why') ? server : false;
    });
    expect(failed.error?.message).toBe('the program ended with exit code 3: why');
    expect(failed.output).toContain('why');
    expect((await asked('POST', '/v1/admin/mcp/x/restart', { token: null })).status).toBe(204);
    expect((await change({ mcpServers: null }, { token: null })).status).toBe(200);
    await change({ allowedOrigins: null });
  });

  test('pages of other origins on the same machine cannot change the setup without a login', async () => {
    const headers = { origin: 'http://localhost:5173' };
    expect((await asked('GET', '/v1/admin/settings', { token: null, headers })).status).toBe(403);
    expect((await change({ model: 'offline' }, { token: null, headers })).status).toBe(403);
    expect((await change({ mcpServers: {} }, { token: null, headers })).status).toBe(403);
    expect((await asked('POST', '/v1/admin/mcp/x/restart', { token: null, headers })).status).toBe(403);
    const own = { origin: server.http };
    expect((await asked('GET', '/v1/admin/settings', { token: null, headers: own })).status).toBe(200);
  });
});

test('agents are added and removed without a restart', async () => {
  const agent = { id: 'pirate', name: 'Pirate', instructions: 'You are a pirate.' };
  expect((await change({ agents: [agent] })).status).toBe(200);
  const listed = async () => ((await asked('GET', '/v1/server')).body.agents as Json[]).map(({ id }) => id);
  expect(await listed()).toContain('pirate');
  expect(
    (await change({ domains: [{ id: 'sea', name: 'Sea', defaultAgent: 'nobody', agents: ['nobody'] }] }))
      .body,
  ).toMatchObject({
    error: { message: 'Unknown agent: nobody.' },
  });
  expect((await change({ agents: null })).status).toBe(200);
  expect(await listed()).not.toContain('pirate');
});

test('MCP servers are added, restarted and removed without a restart of the server', async () => {
  const command = {
    command: process.execPath,
    args: [join(import.meta.dir, '../../testing/tools/mcp-server.ts')],
  };
  const secret = 'hunter2-hunter2';
  await change({ mcpServers: { files: { ...command, env: { SERVER_TOKEN: secret } } } });
  const listed = async () => (await asked('GET', '/v1/admin/mcp')).body.servers as Json[];
  const ready = async () => {
    await until(async () => (await listed())[0]?.state === 'ready');
  };
  await ready();
  expect((await listed())[0]?.tools).toContain('mcp_files_say');
  const view = await settings();
  expect(view.stored.mcpServers).toMatchObject({ files: { env: { SERVER_TOKEN: null } } });
  expect(JSON.stringify(view)).not.toContain(secret);

  // null keeps the hidden value
  const kept = await change({
    mcpServers: { files: { ...command, env: { SERVER_TOKEN: null }, trusted: true } },
  });
  expect(kept.status).toBe(200);
  await ready();
  expect((await settings()).stored.mcpServers).toMatchObject({ files: { env: { SERVER_TOKEN: null } } });
  expect((await asked('POST', '/v1/admin/mcp/files/restart')).status).toBe(204);
  await ready();
  expect((await asked('POST', '/v1/admin/mcp/nothing/restart')).status).toBe(404);
  await change({ mcpServers: null });
  expect(await listed()).toEqual([]);
});

test('stored headers of an MCP server are not sent to another one', async () => {
  const moved = (url: string, authorization: string | null) =>
    change({ mcpServers: { search: { url, headers: { authorization } } } });
  expect((await moved('http://127.0.0.1:9/mcp', 'Bearer hunter2-hunter2')).status).toBe(200);
  expect((await moved('http://127.0.0.1:9/other', null)).status).toBe(200);
  const refused = await moved('http://127.0.0.1:10/mcp', null);
  expect(refused.status).toBe(400);
  expect(JSON.stringify(refused.body)).toContain('Enter the value of authorization again');
  expect((await moved('http://127.0.0.1:10/mcp', 'Bearer other')).status).toBe(200);
  await change({ mcpServers: null });
});

test('a refused origin is listed, and can connect as soon as it is allowed', async () => {
  const origin = 'https://chat.example.com';
  const visit = () => asked('GET', '/v1/server', { token: null, headers: { origin } });
  expect((await visit()).status).toBe(403);
  expect((await visit()).status).toBe(403);
  const refused = async () => (await asked('GET', '/v1/admin/origins')).body.refused;
  expect(await refused()).toMatchObject([{ origin, count: 2 }]);
  await change({ allowedOrigins: [origin] });
  expect((await visit()).status).toBe(200);
  expect(await refused()).toEqual([]);
  await change({ allowedOrigins: null });
  expect((await visit()).status).toBe(403);
});

test('stored settings survive a restart; settings of the environment take precedence and are listed', async () => {
  await change({ model: 'offline', agents: [{ id: 'cook', name: 'Cook', instructions: 'Cook.' }] });
  const { data } = server;
  await server.running.stop();
  const again = await startTestServer({ PARLANCE_DATA: data, MODEL: 'gpt-test', OPENAI_BASE_URL: model.url });
  server = again;
  ada = await server.login('ada', 'ada-password');
  const view = await settings();
  expect(view).toMatchObject({
    problem: null,
    model: { model: 'gpt-test' },
    given: { model: 'MODEL', openaiBaseUrl: 'OPENAI_BASE_URL' },
    stored: { model: 'offline', agents: [{ id: 'cook' }] },
  });
  expect(await change({ model: 'small' })).toMatchObject({
    status: 400,
    body: { error: { message: 'MODEL is set at startup, which takes precedence. Change it there.' } },
  });
});

test('settings stored with another secret cannot be read, and the server reports it', async () => {
  const { data } = server;
  await server.running.stop();
  server = await startTestServer({
    PARLANCE_DATA: data,
    AUTH_SECRET: 'another secret, long enough for this',
  });
  ada = await server.login('ada', 'ada-password');
  expect(await settings()).toMatchObject({
    problem:
      'The stored settings were encrypted with another AUTH_SECRET and cannot be read. Enter them again.',
    stored: {},
  });
  expect((await change({ model: 'offline' })).status).toBe(200);
  expect((await settings()).problem).toBeNull();
});

const databaseIn = (folder: string): string =>
  readdirSync(folder).find((name) => /\.(db|sqlite)$/.test(name)) ?? '';
