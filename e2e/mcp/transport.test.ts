/** The rules of Streamable HTTP. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { type ScriptedModel, scriptedModel } from '../scripted-model.ts';
import { followed } from '../server-process.ts';
import { connect, modernClient } from './clients.ts';
import { ACCEPT, failure, modern, postTo, request } from './raw.ts';

let model: ScriptedModel;
let server: TestServer;
beforeAll(async () => {
  model = scriptedModel(() => ({ say: 'Fine.' }));
  const settings = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake' };
  server = await startTestServer(settings, { listeners: [{ dialect: 'mcp', port: 0 }] });
});
afterAll(async () => {
  await server.stop();
  model.stop();
});

const post = (body: unknown, headers: Record<string, string> = {}) => postTo(server.http, body, headers);

test('an unknown session id is accepted', async () => {
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

test('a batch is answered with a batch', async () => {
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

test('a client that accepts only JSON gets a whole response', async () => {
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

test('in 2026 only POST is supported', async () => {
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

test('an event id of another user or an unknown one resumes nothing', async () => {
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

test('a requestState of another user or an unknown one is -32602, and starts nothing', async () => {
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

test('an extra listener serves the same path', async () => {
  const { port } = server.running.listeners.find(({ dialect }) => dialect === 'mcp') ?? {};
  const { call, close } = await connect('2025', `http://127.0.0.1:${port}`);
  expect((await call('list_sessions')).isError).toBeUndefined();
  await close();
  const missing = await fetch(`http://127.0.0.1:${port}/nothing`);
  expect(missing.status).toBe(404);
});

test.each([
  ['auto', '2026-07-28'],
  ['legacy', '2025-11-25'],
] as const)('the client of 2026 in mode %s agrees on %s', async (mode, version) => {
  const client = modernClient({}, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${server.http}/mcp`)));
  expect(client.getNegotiatedProtocolVersion()).toBe(version);
  const result = await client.callTool({ name: 'send_message', arguments: { text: 'hi' } });
  expect(result.structuredContent).toMatchObject({ status: 'done', text: 'Fine.' });
  await client.close();
});
