import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startTestApi, type TestApi } from '../../testing/copilot.ts';

const EXTENSION = 'chrome-extension://abcdefghijklmnopabcdefghijklmnop';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ ALLOWED_ORIGINS: EXTENSION });
});
afterAll(() => api.stop());

const uma = { user: { id: 'uma', email: 'uma', name: 'uma' }, tenantId: 'default', tenantName: 'Parlance' };

describe('POST /api/v1/auth/login', () => {
  const login = (body: unknown) => api.post(null, '/api/v1/auth/login', body);

  test('accepts a name as email, and returns a token that is valid in every dialect', async () => {
    const { status, body } = await login({ email: 'uma', password: 'uma-password' });
    expect(status).toBe(200);
    expect(body).toEqual({
      accessToken: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      expiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      ...uma,
    });
    expect(Date.parse(String(body.expiresAt))).toBeGreaterThan(Date.now());
    const token = String(body.accessToken);
    expect((await api.get(token, '/api/v1/auth/session')).body).toEqual(uma);
    expect((await api.get(token, '/v1/auth/me')).body).toMatchObject({ sub: 'uma' });
  });

  test.each([
    ['uma', 'wrong'],
    ['nobody', 'uma-password'],
    ['local', 'x'],
  ])('%p with %p gets INVALID_CREDENTIALS', async (email, password) => {
    const { status, body } = await login({ email, password });
    expect(status).toBe(401);
    expect(body).toEqual({
      success: false,
      code: 'INVALID_CREDENTIALS',
      message: 'Invalid credentials',
      error: 'Invalid credentials',
    });
  });

  test.each<[unknown, string]>([
    [{ password: 'x' }, 'email'],
    [{ email: '', password: 'x' }, 'email'],
    [{ email: 'uma' }, 'password'],
    [{ email: 'uma', password: 7 }, 'password'],
    [[], 'body'],
    ['not JSON', 'body'],
    ['', 'body'],
  ])('%p is refused with the name of the field %s', async (given, field) => {
    const { status, body } = await login(given);
    expect(status).toBe(400);
    expect(body).toMatchObject({ success: false, code: 'VALIDATION_ERROR' });
    expect(body.error).toBe(body.message);
    expect(body.details).toEqual({
      errors: expect.arrayContaining([{ field, message: expect.any(String), code: expect.any(String) }]),
    });
  });
});

describe('without a valid token everything except login is UNAUTHORIZED, even in open mode', () => {
  const id = crypto.randomUUID();
  test.each([
    ['GET', '/api/v1/auth/session'],
    ['POST', '/api/v1/auth/logout'],
    ['GET', '/api/v1/user/preferences'],
    ['POST', '/api/v1/user/preferences'],
    ['GET', '/api/knowledge/resolve?url=https://example.org'],
    ['GET', '/api/session'],
    ['POST', '/api/session'],
    ['POST', '/api/session/init'],
    ['GET', '/api/session/latest'],
    ['GET', '/api/session/by-domain/example.org'],
    ['GET', `/api/session/${id}`],
    ['PATCH', `/api/session/${id}`],
    ['GET', `/api/session/${id}/messages`],
    ['GET', `/api/session/${id}/task/active`],
  ])('%s %s', async (method, path) => {
    for (const token of [null, 'not.a.token']) {
      const { status, body, headers } = await api.ask(token, {
        method,
        path,
        body: method === 'GET' ? undefined : {},
      });
      expect(status).toBe(401);
      expect(body).toMatchObject({ success: false, code: 'UNAUTHORIZED', error: body.message });
      expect(headers.get('www-authenticate')).toBe('Bearer');
    }
  });
});

test('POST /api/v1/auth/logout is an empty 204 and ends only that token', async () => {
  const token = await api.server.login('uma', 'uma-password');
  const { status, body } = await api.ask(token, { method: 'POST', path: '/api/v1/auth/logout' });
  expect([status, body]).toEqual([204, {}]);
  expect((await api.get(token, '/api/v1/auth/session')).body).toMatchObject({ code: 'UNAUTHORIZED' });
  expect((await api.ask(token, { method: 'POST', path: '/api/v1/auth/logout' })).status).toBe(401);
  expect((await api.get('uma', '/api/v1/auth/session')).status).toBe(200);
});

describe('/api/v1/user/preferences', () => {
  test('start with the defaults and are stored per user', async () => {
    const path = '/api/v1/user/preferences';
    expect((await api.get('uma', path)).body).toEqual({ preferences: { theme: 'system' } });
    const chosen = await api.post('uma', path, { theme: 'dark' });
    expect(chosen.status).toBe(200);
    expect(chosen.body).toEqual({
      success: true,
      preferences: { theme: 'dark' },
      syncedAt: expect.any(String),
    });
    const { syncedAt } = chosen.body;
    expect((await api.get('uma', path)).body).toEqual({ preferences: { theme: 'dark' }, syncedAt });
    expect((await api.get('dev', path)).body).toEqual({ preferences: { theme: 'system' } });
  });

  test('an unknown theme is refused', async () => {
    const { status, body } = await api.post('uma', '/api/v1/user/preferences', { theme: 'pink' });
    expect(status).toBe(400);
    expect(body.details).toMatchObject({ errors: [{ field: 'theme' }] });
  });
});

describe('GET /api/knowledge/resolve', () => {
  test('allows every site and has no knowledge', async () => {
    const path = `/api/knowledge/resolve?url=${encodeURIComponent('https://www.example.co.uk/a')}&query=tea`;
    expect((await api.get('uma', path)).body).toEqual({
      allowed: true,
      domain: 'example.co.uk',
      hasOrgKnowledge: false,
      context: [],
      citations: [],
    });
  });

  test.each([
    ['shop.example', 'shop.example'],
    ['www.shop.example', 'shop.example'],
    ['127.0.0.1', '127.0.0.1'],
    ['127.0.0.1:8080', '127.0.0.1'],
    ['localhost', 'localhost'],
    ['localhost:3000', 'localhost'],
    ['[::1]', '[::1]'],
    ['shop.example/a?b=c', 'shop.example'],
    ['about:blank', ''],
  ])('accepts %s', async (url, domain) => {
    const { status, body } = await api.get('uma', `/api/knowledge/resolve?url=${encodeURIComponent(url)}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ allowed: true, domain, context: [], citations: [] });
  });

  test.each(['', '?url=', '?url=no%20where', '?url=https://'])(
    '%p is refused without a valid url',
    async (query) => {
      const { status, body } = await api.get('uma', `/api/knowledge/resolve${query}`);
      expect(status).toBe(400);
      expect(body).toMatchObject({ code: 'VALIDATION_ERROR', details: { errors: [{ field: 'url' }] } });
    },
  );
});

describe('an extension', () => {
  const preflight = (origin: string) =>
    fetch(`${api.server.http}/api/session`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'PATCH',
        'access-control-request-headers': 'authorization,content-type',
      },
    });

  test('that is allowed is echoed, with a 204 preflight and no credentials', async () => {
    const answer = await preflight(EXTENSION);
    expect(answer.status).toBe(204);
    expect(answer.headers.get('access-control-allow-origin')).toBe(EXTENSION);
    expect(answer.headers.get('access-control-allow-methods')).toContain('PATCH');
    expect(answer.headers.get('access-control-allow-headers')).toContain('authorization');
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
    const refused = await fetch(`${api.server.http}/api/session`, { headers: { origin: EXTENSION } });
    expect(refused.status).toBe(401);
    expect(refused.headers.get('access-control-allow-origin')).toBe(EXTENSION);
  });

  test('that is not allowed is refused', async () => {
    const answer = await preflight('chrome-extension://ponmlkjihgfedcbaponmlkjihgfedcba');
    expect(answer.status).toBe(403);
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('a request refused before it reaches an endpoint', () => {
  const stranger = { origin: 'chrome-extension://ponmlkjihgfedcbaponmlkjihgfedcba' };

  test.each([
    ['POST', '/api/agent/interact'],
    ['GET', '/api/session'],
    ['GET', '/api/session/latest'],
    ['POST', '/api/v1/auth/login'],
    ['GET', '/api/knowledge/resolve?url=shop.example'],
    ['OPTIONS', '/api/agent/interact'],
    ['GET', '/api/pusher/auth'],
    ['POST', '/api/pusher/auth'],
    ['POST', '/api/pusher/user-auth'],
  ])('has the error format of the contract: a refused origin, %s %s', async (method, path) => {
    const response = await fetch(`${api.server.http}${path}`, { method, headers: stranger });
    expect(response.status).toBe(403);
    const message = `Origin "${stranger.origin}" is not allowed: allow it in the console (Admin → Origins) or with --origin`;
    expect(await response.json()).toEqual({ success: false, code: 'FORBIDDEN', message, error: message });
  });

  test('has the error format of the contract: an unknown endpoint', async () => {
    const response = await fetch(`${api.server.http}/api/v1/nothing`);
    expect(response.status).toBe(404);
    const message = 'Not found';
    expect(await response.json()).toEqual({ success: false, code: 'NOT_FOUND', message, error: message });
  });

  test('has the general error format at other paths', async () => {
    for (const path of ['/v1/sessions', '/api/sessions', '/api/health']) {
      const body = await (await fetch(`${api.server.http}${path}`, { headers: stranger })).json();
      expect(Object.keys(body as object).sort()).toEqual(['detail', 'error']);
    }
  });
});
