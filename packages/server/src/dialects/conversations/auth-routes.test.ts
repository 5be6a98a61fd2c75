import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Permission } from '@parlance/protocol';
import { startTestServer, type TestServer } from '../../testing/server.ts';

let server: TestServer;

const tokens: Record<string, string> = {};

beforeAll(async () => {
  server = await startTestServer();
  for (const name of ['ada', 'dev', 'uma']) tokens[name] = await server.login(name, `${name}-password`);
});

afterAll(() => server.stop());

/** Without a token if `name` is null. */
async function ask(name: string | null, path: string, init: RequestInit = {}) {
  const headers: Record<string, string> =
    name === null ? {} : { authorization: `Bearer ${tokens[name] ?? name}` };
  const response = await fetch(server.http + path, { ...init, headers });
  return { status: response.status, headers: response.headers, body: (await response.json()) as unknown };
}

const post = (name: string | null, path: string, body: unknown) =>
  ask(name, path, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) });

describe('POST /v1/auth/login', () => {
  test.each([
    ['ada', 'admin'],
    ['dev', 'developer'],
    ['uma', 'user'],
  ])('%s logs in as %s', async (username, role) => {
    const { status, body } = await post(null, '/v1/auth/login', {
      username,
      password: `${username}-password`,
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      token_type: 'bearer',
      role,
    });
  });

  test.each([
    ['uma', 'wrong'],
    ['nobody', 'uma-password'],
    ['local', 'x'],
    [' ', ' '],
  ])('%p with %p gets Invalid credentials', async (username, password) => {
    const { status, body } = await post(null, '/v1/auth/login', { username, password });
    expect([status, body]).toEqual([401, { detail: 'Invalid credentials' }]);
  });

  test.each([
    [{ username: '', password: 'x' }],
    [{ username: 'uma', password: '' }],
    [{ username: 'uma' }],
    [{ password: 'x' }],
    [{ username: 1, password: 'x' }],
    [{ username: 'uma', password: null }],
    [{}],
    [[]],
    ['null'],
    ['{"username":'],
    [''],
  ])('%j is 422', async (credentials) => {
    const { status, body } = await post(null, '/v1/auth/login', credentials);
    expect([status, body]).toEqual([422, { detail: expect.stringMatching(/\S/) }]);
  });
});

describe('GET /v1/auth/me', () => {
  test.each([
    ['ada', 'admin', Permission.options],
    ['dev', 'developer', Permission.options],
    ['uma', 'user', ['chat:send', 'chat:read', 'tool:request']],
  ] as const)('%s is %s', async (sub, role, perms) => {
    const { status, body } = await ask(sub, '/v1/auth/me');
    expect([status, body]).toEqual([200, { sub, role, perms }]);
  });

  test.each([[null], ['not-a-token']])('with the token %p is 401, even in open mode', async (token) => {
    const { status, headers, body } = await ask(token, '/v1/auth/me');
    expect([status, body]).toEqual([401, { detail: expect.stringMatching(/token/) }]);
    expect(headers.get('www-authenticate')).toBe('Bearer');
  });
});
