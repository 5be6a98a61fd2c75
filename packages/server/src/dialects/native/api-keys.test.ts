import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startTestServer, type TestServer } from '../../testing/server.ts';

type Json = Record<string, unknown>;

let server: TestServer;
let tokens: Record<'ada' | 'dev' | 'uma', string>;

beforeAll(async () => {
  server = await startTestServer({ PARLANCE_AUTH: 'required' });
  const login = (name: string) => server.login(name, `${name}-password`);
  tokens = { ada: await login('ada'), dev: await login('dev'), uma: await login('uma') };
});
afterAll(() => server.stop());

type Call = { readonly method?: string; readonly path: string; readonly body?: unknown };

async function asked(headers: Record<string, string>, { method = 'GET', path, body }: Call) {
  const response = await fetch(server.http + path, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as Json };
}

const as = (token: string) => ({ authorization: `Bearer ${token}` });
const made = async (who: 'ada' | 'dev' | 'uma', wanted: object = {}) => {
  const { status, body } = await asked(as(tokens[who]), {
    method: 'POST',
    path: '/v1/keys',
    body: { name: 'a key', ...wanted },
  });
  expect(status).toBe(201);
  return { id: String(body.id), key: String(body.key) };
};
const idsOf = ({ body }: { body: Json }) => (body.keys as Json[]).map(({ id }) => id);

describe('API keys', () => {
  test('are shown once, and listed to their owner and to admins', async () => {
    const wanted = { name: 'laptop', role: 'user', dialects: ['native'], expiresAt: '2999-01-01T00:00:00Z' };
    const added = await asked(as(tokens.dev), { method: 'POST', path: '/v1/keys', body: wanted });
    const view = {
      id: expect.stringMatching(/^[0-9A-Za-z]{16}$/),
      owner: 'dev',
      name: 'laptop',
      role: 'user',
      dialects: ['native'],
      administration: false,
      createdAt: expect.any(String),
      expiresAt: '2999-01-01T00:00:00.000Z',
      lastUsedAt: null,
    };
    expect(added).toEqual({ status: 201, body: { ...view, key: expect.stringMatching(/^plk_/) } });
    const secret = String(added.body.key).slice(-43);
    const own = await asked(as(tokens.dev), { path: '/v1/keys' });
    expect(own).toEqual({ status: 200, body: { keys: [view] } });
    const all = await asked(as(tokens.ada), { path: '/v1/admin/keys' });
    expect(idsOf(all)).toContain(added.body.id);
    expect(JSON.stringify([own, all])).not.toContain(secret);
    expect(await asked(as(tokens.uma), { path: '/v1/keys' })).toEqual({ status: 200, body: { keys: [] } });
    expect((await asked(as(tokens.uma), { path: '/v1/admin/keys' })).status).toBe(403);
  });

  test('work as bearer, as x-api-key and in the query', async () => {
    const { key } = await made('uma');
    for (const [headers, query] of [
      [as(key), ''],
      [{ 'x-api-key': key }, ''],
      [{}, `?token=${key}`],
    ] as const) {
      const { status, body } = await asked(headers, { path: `/v1/server${query}` });
      expect([status, (body.principal as Json).id]).toEqual([200, 'uma']);
    }
    expect((await asked({ 'x-api-key': `${key}x` }, { path: '/v1/server' })).status).toBe(401);
  });

  test('are revoked by their owner and by admins, and unknown to others', async () => {
    const [one, other] = [await made('dev'), await made('dev')];
    const revoke = async (who: 'ada' | 'dev' | 'uma', id: string) =>
      (await asked(as(tokens[who]), { method: 'DELETE', path: `/v1/keys/${id}` })).status;
    expect(await revoke('uma', one.id)).toBe(404);
    expect((await asked(as(one.key), { path: '/v1/server' })).status).toBe(200);
    expect(await revoke('dev', one.id)).toBe(204);
    expect(await revoke('dev', one.id)).toBe(404);
    expect(await revoke('ada', other.id)).toBe(204);
    for (const { key } of [one, other])
      expect((await asked(as(key), { path: '/v1/server' })).status).toBe(401);
  });

  test('revoke themselves', async () => {
    const { id, key } = await made('uma');
    expect((await asked(as(key), { method: 'DELETE', path: `/v1/keys/${id}` })).status).toBe(204);
    expect((await asked(as(key), { method: 'DELETE', path: `/v1/keys/${id}` })).status).toBe(401);
    expect((await asked(as(key), { path: '/v1/server' })).status).toBe(401);
  });

  test('cannot manage API keys, and cannot log out', async () => {
    const { key } = await made('ada');
    const { id } = await made('ada');
    for (const [method, path] of [
      ['GET', '/v1/keys'],
      ['POST', '/v1/keys'],
      ['DELETE', `/v1/keys/${id}`],
      ['GET', '/v1/admin/keys'],
      ['POST', '/v1/auth/logout'],
    ] as const)
      expect([
        path,
        (await asked(as(key), { method, path, body: method === 'POST' ? {} : undefined })).status,
      ]).toEqual([path, 403]);
    expect((await asked(as(key), { path: '/v1/admin/users' })).status).toBe(200);
  });

  test('of admins manage users, passwords, origins and MCP servers only with the scope administration', async () => {
    const command = { mcpServers: { hostile: { command: 'true' } } };
    const change = async (key: string, values: object) => {
      const { body } = await asked(as(tokens.ada), { path: '/v1/admin/settings' });
      return asked(as(key), {
        method: 'PATCH',
        path: '/v1/admin/settings',
        body: { version: body.version, values },
      });
    };
    const user = { name: 'eve', password: 'eve-password', role: 'admin' };
    const managing = (key: string): Promise<{ status: number; body: Json }>[] => [
      asked(as(key), { method: 'POST', path: '/v1/admin/users', body: user }),
      asked(as(key), { method: 'PATCH', path: '/v1/admin/users/uma', body: { password: 'eve-password' } }),
      asked(as(key), { method: 'DELETE', path: '/v1/admin/users/uma' }),
      asked(as(key), { method: 'POST', path: '/v1/admin/users/uma/logout' }),
      asked(as(key), {
        method: 'POST',
        path: '/v1/auth/password',
        body: { old: 'ada-password', new: 'eve-password' },
      }),
      change(key, command),
      change(key, { allowedOrigins: ['https://evil.example'] }),
    ];
    const plain = await made('ada', { expiresAt: '2999-01-01T00:00:00Z' });
    for (const answer of managing(plain.key))
      expect(await answer).toMatchObject({
        status: 403,
        body: { detail: expect.stringContaining('without the scope administration') },
      });
    expect((await asked(as(plain.key), { path: '/v1/admin/users' })).status).toBe(200);
    expect((await change(plain.key, { domains: null })).status).toBe(200);

    const wanted = { name: 'x', role: 'developer', administration: true };
    const refused = await asked(as(tokens.ada), { method: 'POST', path: '/v1/keys', body: wanted });
    expect([refused.status, refused.body.detail]).toEqual([400, expect.stringMatching(/^administration/)]);
    const scoped = await made('ada', { administration: true });
    const listed = await asked(as(tokens.ada), { path: '/v1/keys' });
    expect(listed.body.keys).toContainEqual(expect.objectContaining({ id: scoped.id, administration: true }));
    const added = await asked(as(scoped.key), {
      method: 'POST',
      path: '/v1/admin/users',
      body: { ...user, role: 'user' },
    });
    expect(added.status).toBe(201);
    expect((await asked(as(scoped.key), { method: 'DELETE', path: '/v1/admin/users/eve' })).status).toBe(204);
    expect((await change(scoped.key, command)).status).toBe(200);
    expect((await change(tokens.ada, { mcpServers: null })).status).toBe(200);
    expect((await asked(as(scoped.key), { path: '/v1/keys' })).status).toBe(403);
  });

  test('never exceed their role, whatever role their owner has', async () => {
    const { key } = await made('ada', { role: 'user' });
    expect((await asked(as(key), { path: '/v1/admin/users' })).status).toBe(403);
    expect((await asked(as(key), { path: '/metrics' })).status).toBe(403);
    expect(
      (await asked(as(tokens.uma), { method: 'POST', path: '/v1/keys', body: { name: 'x', role: 'admin' } }))
        .status,
    ).toBe(403);
  });

  test('limited to some dialects are refused by other dialects and by endpoints outside of dialects', async () => {
    const { key } = await made('ada', { dialects: ['broadcast', 'conversations'] });
    const statusOf = async (path: string) => (await asked(as(key), { path })).status;
    expect(await statusOf('/v1/auth/me')).toBe(200);
    expect(await statusOf('/v1/server')).toBe(403);
    expect(await statusOf('/metrics')).toBe(403);
    const summarize = { method: 'POST', path: '/api/summarize', body: { title: 'A page', content: 'Text.' } };
    expect((await asked(as(key), summarize)).status).toBe(403);
    const { key: extension } = await made('ada', { dialects: ['extension'] });
    expect((await asked(as(extension), summarize)).status).toBe(200);
    const allowed = await server.connect(`/broadcast?token=${key}`);
    allowed.send({ type: 'nonsense' });
    await allowed.next('error');
    const refused = await server.connect(`/agentloop?token=${key}`);
    expect(await refused.closed).toEqual({
      code: 1008,
      reason: 'The API key is limited to other dialects',
    });
  });

  test('with an invalid field are refused with its name', async () => {
    for (const [wanted, field] of [
      [{}, 'name'],
      [{ name: ' ' }, 'name'],
      [{ name: 'x', role: 'root' }, 'role'],
      [{ name: 'x', dialects: ['telex'] }, 'dialects'],
      [{ name: 'x', expiresAt: 'tomorrow' }, 'expiresAt'],
      [{ name: 'x', expiresAt: '2001-01-01T00:00:00Z' }, 'expiresAt'],
    ] as const) {
      const { status, body } = await asked(as(tokens.uma), {
        method: 'POST',
        path: '/v1/keys',
        body: wanted,
      });
      expect([status, body.detail]).toEqual([400, expect.stringMatching(new RegExp(`^${field}`))]);
    }
  });
});

test('in open mode a bad key is refused, and callers without a token have no keys', async () => {
  const open = await startTestServer();
  const statusOf = async (path: string, headers: Record<string, string> = {}) =>
    (await fetch(open.http + path, { headers })).status;
  expect(await statusOf('/v1/server')).toBe(200);
  const bad = `plk_${'0'.repeat(16)}_${'x'.repeat(43)}`;
  for (const headers of [as(bad), as('plk_nonsense'), { 'x-api-key': bad }])
    expect(await statusOf('/v1/server', headers)).toBe(401);
  expect(await statusOf('/v1/keys')).toBe(403);
  const wanted = { method: 'POST', body: JSON.stringify({ name: 'x' }) };
  expect((await fetch(`${open.http}/v1/keys`, wanted)).status).toBe(403);
  await open.stop();
});
