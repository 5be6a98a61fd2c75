/** Real answers fit what is described, and have no field that is not. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { z } from 'zod';
import type { Endpoint } from '../dialects/shared/description.ts';
import { startTestServer, type TestServer } from '../testing/server.ts';
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

/** The body of the answer, which is one that is described for this status. */
async function asked<Body = unknown>(
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
  const told: unknown = answer.type === 'text/plain' ? await response.text() : await response.json();
  // What is not described is left out by parsing, and so would be missed here.
  expect((answer.schema as z.ZodType).parse(told)).toEqual(told);
  return told as Body;
}

test('GET /openapi.json needs no token', async () => {
  const response = await fetch(`${server.http}/openapi.json`);
  expect(response.headers.get('content-type')).toStartWith('application/json');
  expect(await response.text()).toBe(openApiText(DESCRIPTIONS));
});

test('copilot: accounts', async () => {
  const login = { email: 'dev', password: 'dev-password' };
  const { accessToken } = await asked<{ accessToken: string }>('post', '/api/v1/auth/login', {
    body: login,
    as: '',
  });
  await asked('post', '/api/v1/auth/login', { body: { ...login, password: 'no' }, status: 401, as: '' });
  await asked('post', '/api/v1/auth/login', { body: {}, status: 400, as: '' });
  await asked('get', '/api/v1/auth/session');
  await asked('get', '/api/v1/auth/session', { status: 401, as: '' });
  await asked('get', '/api/v1/user/preferences');
  await asked('post', '/api/v1/user/preferences', { body: { theme: 'dark' } });
  await asked('get', '/api/v1/user/preferences');
  await asked('get', '/api/knowledge/resolve?url=https://example.com');
  await asked('post', '/api/v1/auth/logout', { status: 204, as: accessToken });
  await asked('post', '/api/v1/auth/logout', { status: 401, as: accessToken });
});

test('copilot: a task from its first action to its end, a question, and its sessions', async () => {
  await asked('get', '/api/session/latest', { status: 404 });
  const page = { url: 'https://shop.example.com/', dom: DOM, sessionId: SESSION };
  const query = 'type tea into the search field';
  const first = await asked<{ data: { taskId: string; action: string } }>('post', '/api/agent/interact', {
    body: { ...page, query },
  });
  expect(first.data.action).toBe('setValue(7, "tea")');
  const { taskId } = first.data;
  await asked('get', `/api/session/${SESSION}/task/active`);
  const after = { ...page, query, taskId, lastActionStatus: 'success' };
  const dom = DOM.replace('type="text"', 'type="text" value="tea"');
  const last = await asked<{ action: string }>('post', '/api/agent/interact', { body: { ...after, dom } });
  expect(last.action).toBe('finish()');
  await asked('post', '/api/agent/interact', { body: after });
  const question = await asked<{ status: string }>('post', '/api/agent/interact', {
    body: { ...page, query: 'click the Submarine button' },
  });
  expect(question.status).toBe('needs_user_input');
  const bad = { ...page, query: '', dom: 'x'.repeat(1_000_001) };
  await asked('post', '/api/agent/interact', { body: bad, status: 400 });

  await asked('get', `/api/session/${SESSION}/messages`);
  await asked('get', `/api/session/${crypto.randomUUID()}/messages`);
  await asked('get', '/api/session/latest');
  await asked('get', '/api/session?limit=5');
  await asked('get', `/api/session/${SESSION}`);
  await asked('get', '/api/session/by-domain/example.com');
  await asked('get', '/api/session/by-domain/example.org');
  await asked('patch', `/api/session/${SESSION}`, { body: { title: 'Tea' } });
  await asked('post', '/api/session/init', { body: { sessionId: crypto.randomUUID() } });
  await asked('get', `/api/session/${SESSION}`, {
    status: 403,
    as: await server.login('uma', 'uma-password'),
  });
  await asked('post', '/api/session', { body: { sessionId: SESSION } });
});

test('native: users, listeners, MCP servers and standing grants', async () => {
  const ada = await server.login('ada', 'ada-password');
  const zoe = { name: 'zoe', password: 'zoe-password', role: 'user' };
  await asked('post', '/v1/admin/users', { body: zoe, status: 201, as: ada });
  await asked('post', '/v1/admin/users', { body: zoe, status: 400, as: ada });
  await asked('get', '/v1/admin/users', { as: ada });
  await asked('get', '/v1/admin/users', { status: 403 });
  await asked('get', '/v1/admin/users', { status: 401, as: 'bad' });
  await asked('patch', '/v1/admin/users/zoe', { body: { role: 'developer' }, as: ada });
  await asked('post', '/v1/admin/users/zoe/logout', { status: 204, as: ada });
  const as = await server.login('zoe', 'zoe-password');
  await asked('post', '/v1/auth/password', { body: { old: 'no', new: 'x' }, status: 403, as });
  await asked('post', '/v1/auth/password', { body: { old: 'zoe-password', new: 'another-one' }, as });
  await asked('delete', '/v1/admin/users/zoe', { status: 204, as: ada });
  await asked('delete', '/v1/admin/users/zoe', { status: 404, as: ada });
  await asked('delete', '/v1/admin/users/ada', { status: 403, as: ada });
  await asked('get', '/v1/admin/doors');
  await asked('get', '/v1/admin/mcp');
  await asked('get', '/v1/grants');
});

test('native: sessions, events, commands and approvals', async () => {
  const parts = [{ type: 'text', text: 'run touch hello.txt' }];
  const commands = '/v1/sessions/native-1/commands';
  await asked('post', commands, { body: { type: 'input.submit', parts } });
  let waiting: { approvals: { id: string }[] } = { approvals: [] };
  while (waiting.approvals.length === 0) {
    waiting = await asked('get', '/v1/approvals');
    await Bun.sleep(5);
  }
  await asked('get', '/v1/sessions');
  await asked('get', '/v1/sessions/native-1');
  await asked('get', '/v1/sessions/native-1/grants');
  await asked('get', '/v1/sessions/nowhere', { status: 404 });
  await asked('post', `/v1/approvals/${waiting.approvals[0]?.id}`, { body: { answer: 'always' } });
  await asked('get', '/v1/sessions/native-1/events');
  await asked('post', commands, { body: { type: 'nonsense' }, status: 400 });
  await asked('get', '/v1/server');
  await asked('get', '/v1/dialects');
  await asked('get', '/v1/dialects', { status: 401, as: 'bad' });
});

test('conversations: login, the catalog and the history', async () => {
  await asked('post', '/v1/auth/login', { body: { username: 'dev', password: 'dev-password' }, as: '' });
  await asked('post', '/v1/auth/login', { body: {}, status: 422, as: '' });
  await asked('get', '/v1/auth/me');
  const other = await server.login('dev', 'dev-password');
  await asked('post', '/v1/auth/logout', { status: 204, as: other });
  await asked('post', '/v1/auth/logout', { status: 401, as: other });
  await asked('get', '/v1/domains');
  await asked('get', '/v1/agents');
  await asked('get', '/v1/tools');
  const domain = { domain_id: 'software_development' };
  const { id } = await asked<{ id: string }>('post', '/v1/conversations', { body: domain, status: 201 });
  await asked('get', '/v1/conversations?limit=2');
  await asked('get', `/v1/conversations/${id}`);
  await asked('get', `/v1/conversations/${SESSION}/messages`);
  await asked('get', '/v1/conversations/nowhere', { status: 404 });
  await asked('get', '/v1/agents?domain_id=brainstorming');
  await asked('get', '/v1/agents/coder');
  await asked('get', '/v1/domains/brainstorming');
  await asked('get', '/v1/domains/nowhere', { status: 404 });
  await asked('get', '/v1/conversations/native-1/workflow-logs');
  const [run] = await asked<{ id: string }[]>('get', '/v1/tool-runs');
  await asked('get', `/v1/tool-runs/${run?.id}`);
  await asked('get', '/v1/tool-runs/nowhere', { status: 404 });
  await asked('get', '/v1/health');
  await asked('get', '/v1/health/details');
  await asked('get', '/v1/metrics');
});

test('the server itself', async () => {
  await asked('get', '/ready', { as: '' });
  await asked('get', '/metrics');
  await asked('get', '/metrics', { status: 401, as: 'nonsense' });
  await asked('get', '/metrics', { status: 403, as: await server.login('uma', 'uma-password') });
});

test('extension, broadcast and pusher', async () => {
  await asked('get', '/health');
  await asked('post', '/api/summarize', { body: { content: 'Bees live in hives. They make honey.' } });
  await asked('post', '/api/summarize', { body: {}, status: 400 });
  await asked('get', '/api/health');
  await asked('get', '/api/config');
  const channel_name = `private-session-${SESSION}`;
  await asked('post', '/api/pusher/auth', { body: { socket_id: '1.2', channel_name } });
  await asked('post', '/api/pusher/auth', { body: { socket_id: '1.2' }, status: 400 });
  await asked('post', '/api/pusher/user-auth', { body: { socket_id: '1.2' } });
  await asked('get', '/apps/app-id/channels', { status: 401 });
});
