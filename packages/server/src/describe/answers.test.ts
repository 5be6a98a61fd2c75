/** Real responses match their description and have no undescribed fields. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { z } from 'zod';
import type { Endpoint } from '../dialects/kit/description.ts';
import { startTestServer, type TestServer } from '../testing/server.ts';
import { until } from '../testing/until.ts';
import { DESCRIPTIONS } from './descriptions.ts';
import { openApiText } from './openapi.ts';

const SESSION = '59adf5f0-cddb-42dd-a20d-658ac57278fd';
const DOM =
  '<html><body><label for="7">Search</label><input id="7" type="text"><button id="8">Go</button></body></html>';

let server: TestServer;
let token: string;
beforeAll(async () => {
  server = await startTestServer();
  token = await server.login('dev', 'dev-password');
});
afterAll(() => server.stop());

const endpoints = DESCRIPTIONS.flatMap((section) => section.endpoints);

function described(method: string, path: string): Endpoint {
  const fits = ({ path: pattern }: Endpoint) =>
    new RegExp(`^${pattern.replace(/\{\w+\}/g, '[^/]+')}$`).test(path);
  const found = endpoints.filter((one) => one.method === method && fits(one));
  const exact = found.find((one) => one.path === path) ?? found[0];
  if (!exact) throw new Error(`${method} ${path} is not described`);
  return exact;
}

/** The response body, validated against the description of this status. */
async function request<Body = unknown>(
  method: string,
  address: string,
  { status = 200, body, as = token }: { status?: number; body?: object; as?: string } = {},
): Promise<Body> {
  const response = await fetch(server.http + address, {
    method: method.toUpperCase(),
    headers: { ...(as && { authorization: `Bearer ${as}` }), 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
  });
  expect(response.status).toBe(status);
  const answer = [described(method, new URL(response.url).pathname).answers[status] ?? []].flat()[0];
  if (!answer) throw new Error(`${method} ${address}: ${status} is not described`);
  if (!answer.schema) {
    expect(await response.text()).toBe('');
    return undefined as Body;
  }
  expect(response.headers.get('content-type')).toStartWith(answer.type ?? 'application/json');
  const received: unknown = answer.type === 'text/plain' ? await response.text() : await response.json();
  // Parsing removes undescribed fields, so compare with the original.
  expect((answer.schema as z.ZodType).parse(received)).toEqual(received);
  return received as Body;
}

test('GET /openapi.json needs no token', async () => {
  const response = await fetch(`${server.http}/openapi.json`);
  expect(response.headers.get('content-type')).toStartWith('application/json');
  expect(await response.text()).toBe(openApiText(DESCRIPTIONS));
});

test('copilot: accounts', async () => {
  const login = { email: 'dev', password: 'dev-password' };
  const { accessToken } = await request<{ accessToken: string }>('post', '/api/v1/auth/login', {
    body: login,
    as: '',
  });
  await request('post', '/api/v1/auth/login', { body: { ...login, password: 'no' }, status: 401, as: '' });
  await request('post', '/api/v1/auth/login', { body: {}, status: 400, as: '' });
  await request('get', '/api/v1/auth/session');
  await request('get', '/api/v1/auth/session', { status: 401, as: '' });
  await request('get', '/api/v1/user/preferences');
  await request('post', '/api/v1/user/preferences', { body: { theme: 'dark' } });
  await request('get', '/api/v1/user/preferences');
  await request('get', '/api/knowledge/resolve?url=https://example.com');
  await request('post', '/api/v1/auth/logout', { status: 204, as: accessToken });
  await request('post', '/api/v1/auth/logout', { status: 401, as: accessToken });
});

test('copilot: a task from its first action to its end, a question, and its sessions', async () => {
  await request('get', '/api/session/latest', { status: 404 });
  const page = { url: 'https://shop.example.com/', dom: DOM, sessionId: SESSION };
  const query = 'type tea into the search field';
  const first = await request<{ data: { taskId: string; action: string } }>('post', '/api/agent/interact', {
    body: { ...page, query },
  });
  expect(first.data.action).toBe('setValue(7, "tea")');
  const { taskId } = first.data;
  await request('get', `/api/session/${SESSION}/task/active`);
  const after = { ...page, query, taskId, lastActionStatus: 'success' };
  const dom = DOM.replace('type="text"', 'type="text" value="tea"');
  const last = await request<{ action: string }>('post', '/api/agent/interact', { body: { ...after, dom } });
  expect(last.action).toBe('finish()');
  await request('post', '/api/agent/interact', { body: after });
  const question = await request<{ status: string }>('post', '/api/agent/interact', {
    body: { ...page, query: 'click the Submarine button' },
  });
  expect(question.status).toBe('needs_user_input');
  const bad = { ...page, query: '', dom: 'x'.repeat(1_000_001) };
  await request('post', '/api/agent/interact', { body: bad, status: 400 });

  await request('get', `/api/session/${SESSION}/messages`);
  await request('get', `/api/session/${crypto.randomUUID()}/messages`);
  await request('get', '/api/session/latest');
  await request('get', '/api/session?limit=5');
  await request('get', `/api/session/${SESSION}`);
  await request('get', '/api/session/by-domain/example.com');
  await request('get', '/api/session/by-domain/example.org');
  await request('patch', `/api/session/${SESSION}`, { body: { title: 'Tea' } });
  await request('post', '/api/session/init', { body: { sessionId: crypto.randomUUID() } });
  await request('get', `/api/session/${SESSION}`, {
    status: 403,
    as: await server.login('uma', 'uma-password'),
  });
  await request('post', '/api/session', { body: { sessionId: SESSION } });
});

test('native: users, listeners, MCP servers and standing grants', async () => {
  const ada = await server.login('ada', 'ada-password');
  const zoe = { name: 'zoe', password: 'zoe-password', role: 'user' };
  await request('post', '/v1/admin/users', { body: zoe, status: 201, as: ada });
  await request('post', '/v1/admin/users', { body: zoe, status: 400, as: ada });
  await request('get', '/v1/admin/users', { as: ada });
  await request('get', '/v1/admin/users', { status: 403 });
  await request('get', '/v1/admin/users', { status: 401, as: 'bad' });
  await request('patch', '/v1/admin/users/zoe', { body: { role: 'developer' }, as: ada });
  await request('post', '/v1/admin/users/zoe/logout', { status: 204, as: ada });
  const as = await server.login('zoe', 'zoe-password');
  await request('post', '/v1/auth/password', { body: { old: 'no', new: 'x' }, status: 403, as });
  await request('post', '/v1/auth/password', { body: { old: 'zoe-password', new: 'another-one' }, as });
  await request('delete', '/v1/admin/users/zoe', { status: 204, as: ada });
  await request('delete', '/v1/admin/users/zoe', { status: 404, as: ada });
  await request('delete', '/v1/admin/users/ada', { status: 403, as: ada });
  await request('get', '/v1/admin/listeners');
  await request('get', '/v1/admin/mcp');
  await request('get', '/v1/grants');
});

test('native: sessions, events, commands and approvals', async () => {
  const parts = [{ type: 'text', text: 'run touch hello.txt' }];
  const commands = '/v1/sessions/native-1/commands';
  await request('post', commands, { body: { type: 'input.submit', parts } });
  const waiting = await until(async () => {
    const answer: { approvals: { id: string }[] } = await request('get', '/v1/approvals');
    return answer.approvals.length > 0 && answer;
  });
  await request('get', '/v1/sessions');
  await request('get', '/v1/sessions/native-1');
  await request('get', '/v1/sessions/native-1/grants');
  await request('get', '/v1/sessions/nowhere', { status: 404 });
  await request('post', `/v1/approvals/${waiting.approvals[0]?.id}`, { body: { answer: 'always' } });
  await request('get', '/v1/sessions/native-1/events');
  await request('post', commands, { body: { type: 'nonsense' }, status: 400 });
  await request('get', '/v1/server');
  await request('get', '/v1/dialects');
  await request('get', '/v1/dialects', { status: 401, as: 'bad' });
});

test('conversations: login, the catalog and the history', async () => {
  await request('post', '/v1/auth/login', { body: { username: 'dev', password: 'dev-password' }, as: '' });
  await request('post', '/v1/auth/login', { body: {}, status: 422, as: '' });
  await request('get', '/v1/auth/me');
  const other = await server.login('dev', 'dev-password');
  await request('post', '/v1/auth/logout', { status: 204, as: other });
  await request('post', '/v1/auth/logout', { status: 401, as: other });
  await request('get', '/v1/domains');
  await request('get', '/v1/agents');
  await request('get', '/v1/tools');
  const domain = { domain_id: 'software_development' };
  const { id } = await request<{ id: string }>('post', '/v1/conversations', { body: domain, status: 201 });
  await request('get', '/v1/conversations?limit=2');
  await request('get', `/v1/conversations/${id}`);
  await request('get', `/v1/conversations/${SESSION}/messages`);
  await request('get', '/v1/conversations/nowhere', { status: 404 });
  await request('get', '/v1/agents?domain_id=brainstorming');
  await request('get', '/v1/agents/coder');
  await request('get', '/v1/domains/brainstorming');
  await request('get', '/v1/domains/nowhere', { status: 404 });
  await request('get', '/v1/conversations/native-1/workflow-logs');
  const [run] = await request<{ id: string }[]>('get', '/v1/tool-runs');
  await request('get', `/v1/tool-runs/${run?.id}`);
  await request('get', '/v1/tool-runs/nowhere', { status: 404 });
  await request('get', '/v1/health');
  await request('get', '/v1/health/details');
  await request('get', '/v1/metrics');
});

test('the server itself', async () => {
  await request('get', '/ready', { as: '' });
  await request('get', '/metrics');
  await request('get', '/metrics', { status: 401, as: 'nonsense' });
  await request('get', '/metrics', { status: 403, as: await server.login('uma', 'uma-password') });
});

test('extension, broadcast and pusher', async () => {
  await request('get', '/health');
  await request('post', '/api/summarize', { body: { content: 'Bees live in hives. They make honey.' } });
  await request('post', '/api/summarize', { body: {}, status: 400 });
  await request('get', '/api/health');
  await request('get', '/api/config');
  const channel_name = `private-session-${SESSION}`;
  await request('post', '/api/pusher/auth', { body: { socket_id: '1.2', channel_name } });
  await request('post', '/api/pusher/auth', { body: { socket_id: '1.2' }, status: 400 });
  await request('post', '/api/pusher/user-auth', { body: { socket_id: '1.2' } });
  await request('get', '/apps/app-id/channels', { status: 401 });
});
