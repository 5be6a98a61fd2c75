import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestServer, TEST_USERS, type TestServer } from '../../testing/server.ts';
import { until } from '../../testing/until.ts';

type Json = Record<string, unknown>;

let server: TestServer;
const start = async () => {
  server = await startTestServer({ PARLANCE_AUTH: 'required', PARLANCE_LISTEN: 'agentloop=0' });
};

/** `endpoint` is a method and a path. */
async function request(token: string | null, endpoint: string, body?: unknown) {
  const [method, path] = endpoint.split(' ');
  const response = await fetch(server.http + path, {
    method,
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as Json };
}

const login = (name: string) => server.login(name, `${name}-password`);
const refusal = (code: string, message: string) => ({ error: { code, message }, detail: message });

describe('users', () => {
  let ada: string;
  beforeEach(async () => {
    await start();
    ada = await login('ada');
  });
  afterEach(() => server.stop());

  test('are listed, added, changed and removed by an admin', async () => {
    const wanted = { name: 'zoe', password: 'zoe-password', role: 'user' };
    const added = await request(ada, 'POST /v1/admin/users', wanted);
    const zoe = { name: 'zoe', role: 'user', createdAt: expect.any(String), fromSettings: false };
    expect(added).toEqual({ status: 201, body: zoe });
    const { body } = await request(ada, 'GET /v1/admin/users');
    expect((body.users as Json[]).map(({ name, role, fromSettings }) => [name, role, fromSettings])).toEqual([
      ['ada', 'admin', true],
      ['dev', 'developer', true],
      ['uma', 'user', true],
      ['zoe', 'user', false],
    ]);
    expect(JSON.stringify(body)).not.toContain('argon2');
    const first = await login('zoe');
    const promoted = await request(ada, 'PATCH /v1/admin/users/zoe', { role: 'developer' });
    expect(promoted.body).toMatchObject({ name: 'zoe', role: 'developer' });
    expect((await request(first, 'GET /v1/sessions')).status).toBe(401);
    await request(ada, 'PATCH /v1/admin/users/zoe', { password: 'another-one' });
    expect(server.login('zoe', 'zoe-password')).rejects.toThrow('401');
    const second = await server.login('zoe', 'another-one');
    expect((await request(ada, 'DELETE /v1/admin/users/zoe')).status).toBe(204);
    expect((await request(second, 'GET /v1/sessions')).status).toBe(401);
    expect((await request(ada, 'DELETE /v1/admin/users/zoe')).status).toBe(404);
  });

  test('that are invalid are refused with the name of the field', async () => {
    const wanted = { name: 'zoe', password: 'password', role: 'user' };
    const add = async (body: unknown) => (await request(ada, 'POST /v1/admin/users', body)).body;
    expect(await add({ ...wanted, name: 'dev' })).toEqual(
      refusal('invalid', 'name: the user dev already exists'),
    );
    expect(await add({ ...wanted, name: 'local' })).toMatchObject({ error: { code: 'invalid' } });
    expect(await add({ ...wanted, password: '' })).toEqual(refusal('invalid', 'the password is empty'));
    const short = refusal('invalid', 'the password has fewer than 8 characters');
    expect(await add({ ...wanted, password: '1234567' })).toEqual(short);
    expect((await request(ada, 'PATCH /v1/admin/users/dev', { password: 'пароль7' })).body).toEqual(short);
    expect(await add({ ...wanted, role: 'root' })).toMatchObject({
      detail: expect.stringMatching(/^role: /),
    });
    expect((await request(ada, 'PATCH /v1/admin/users/dev', {})).body).toEqual(
      refusal('invalid', 'body: give a password or a role'),
    );
  });

  test('always include an admin', async () => {
    const only = refusal('forbidden', 'ada is the only admin: make another user an admin first.');
    expect(await request(ada, 'DELETE /v1/admin/users/ada')).toEqual({ status: 403, body: only });
    const demoted = await request(ada, 'PATCH /v1/admin/users/ada', { role: 'user' });
    expect(demoted).toEqual({ status: 403, body: only });
  });

  test('that are logged out lose every token and every socket at once', async () => {
    const [first, second] = [await login('dev'), await login('dev')];
    const socket = await server.connect(`/agentloop?token=${first}`);
    expect((await request(ada, 'POST /v1/admin/users/dev/logout')).status).toBe(204);
    expect(await socket.closed).toMatchObject({ code: 1008, reason: 'The token was revoked.' });
    for (const token of [first, second]) expect((await request(token, 'GET /v1/sessions')).status).toBe(401);
    expect((await request(await login('dev'), 'GET /v1/sessions')).status).toBe(200);
  });

  test('are visible to admins only', async () => {
    for (const name of ['dev', 'uma']) {
      const token = await login(name);
      for (const [method, path] of [
        ['GET', '/v1/admin/users'],
        ['POST', '/v1/admin/users'],
        ['PATCH', '/v1/admin/users/ada'],
        ['DELETE', '/v1/admin/users/nobody'],
        ['POST', '/v1/admin/users/ada/logout'],
      ] as const) {
        const answer = await request(token, `${method} ${path}`, method === 'GET' ? undefined : {});
        expect(answer).toEqual({
          status: 403,
          body: refusal('forbidden', 'Only an admin may manage users.'),
        });
      }
    }
    expect((await request(null, 'GET /v1/admin/users')).status).toBe(401);
  });

  test('change their own password with the old one and continue with the new token', async () => {
    const uma = await login('uma');
    const guess = await request(uma, 'POST /v1/auth/password', { old: 'a guess', new: 'better-one' });
    expect(guess).toEqual({ status: 403, body: refusal('forbidden', 'The old password is wrong.') });
    const done = await request(uma, 'POST /v1/auth/password', { old: 'uma-password', new: 'better-one' });
    expect(done).toEqual({
      status: 200,
      body: { access_token: expect.any(String), token_type: 'bearer', role: 'user' },
    });
    expect((await request(uma, 'GET /v1/sessions')).status).toBe(401);
    expect((await request(String(done.body.access_token), 'GET /v1/sessions')).status).toBe(200);
    expect((await server.login('uma', 'better-one')).length).toBeGreaterThan(0);
  });
});

describe('operator endpoints', () => {
  beforeAll(start);
  afterAll(() => server.stop());

  test('list the sockets of each listener by dialect', async () => {
    const dev = await login('dev');
    await server.connect(`/broadcast?token=${dev}`);
    await server.connect(`/agentloop?token=${dev}`);
    const listener = server.running.listeners[0]?.port ?? 0;
    const extra = new WebSocket(`ws://127.0.0.1:${listener}/?token=${dev}`);
    await new Promise((resolve) => extra.addEventListener('open', resolve, { once: true }));
    expect((await request(dev, 'GET /v1/admin/listeners')).body).toEqual({
      listeners: [
        {
          address: '127.0.0.1',
          port: server.running.port,
          dialect: 'all',
          sockets: { broadcast: 1, agentloop: 1 },
          problem: null,
        },
        {
          address: '127.0.0.1',
          port: listener,
          dialect: 'agentloop',
          sockets: { agentloop: 1 },
          problem: null,
        },
      ],
    });
    extra.close();
  });

  test('list no MCP servers if none is configured', async () => {
    expect((await request(await login('dev'), 'GET /v1/admin/mcp')).body).toEqual({ servers: [] });
  });

  test('are refused to users', async () => {
    const uma = await login('uma');
    for (const path of ['/v1/admin/listeners', '/v1/admin/mcp'])
      expect(await request(uma, `GET ${path}`)).toEqual({
        status: 403,
        body: refusal('forbidden', 'Missing permission: metrics:read'),
      });
  });
});

test('MCP servers are listed with their tools and last error, without secrets', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parlance-mcp-'));
  const test = join(import.meta.dir, '../../testing/tools/mcp-server.ts');
  const secret = 'hunter2-hunter2';
  const mcpServers = {
    well: { command: process.execPath, args: [test], cwd: folder, env: { SERVER_TOKEN: secret } },
    gone: {
      url: `http://127.0.0.1:9/${'mcp'}?key=${secret}`,
      headers: { authorization: `Bearer ${secret}` },
    },
  };
  const config = join(folder, 'parlance.json');
  writeFileSync(config, JSON.stringify({ mcpServers }));
  server = await startTestServer({ PARLANCE_CONFIG: config });
  try {
    const { body } = await request(null, 'GET /v1/admin/mcp');
    const [well, gone] = body.servers as Json[];
    expect(well).toMatchObject({
      name: 'well',
      kind: 'process',
      trusted: false,
      state: 'ready',
      error: null,
    });
    expect(well?.tools).toContain('mcp_well_say');
    expect(gone).toMatchObject({ name: 'gone', kind: 'address', tools: [] });
    expect(['away', 'starting']).toContain(String(gone?.state));
    expect(gone?.error).toEqual({ at: expect.any(String), message: expect.stringMatching(/./) });
    expect(JSON.stringify(body)).not.toContain(secret);
  } finally {
    await server.stop();
  }
});

test('standing grants of all sessions of the caller are listed, and gone after they are revoked', async () => {
  server = await startTestServer({ AUTH_USERS: TEST_USERS });
  try {
    const dev = await login('dev');
    const command = (session: string, body: unknown) =>
      request(dev, `POST /v1/sessions/${session}/commands`, body);
    for (const session of ['one', 'two', 'none']) {
      await command(session, { type: 'input.submit', parts: [{ type: 'text', text: 'run touch a' }] });
      const waiting = async () => (await request(dev, 'GET /v1/approvals')).body.approvals as Json[];
      const approval = await until(async () => (await waiting())[0]);
      const answer = session === 'none' ? 'deny' : 'always';
      await request(dev, `POST /v1/approvals/${approval.id}`, { answer });
    }
    const listed = async (token: string) => (await request(token, 'GET /v1/grants')).body;
    const grants = (await listed(dev)).grants as Json[];
    expect(grants.map(({ session, owner, title }) => [session, owner, title]).sort()).toEqual([
      ['one', 'dev', 'run touch a'],
      ['two', 'dev', 'run touch a'],
    ]);
    expect(((await listed(await login('ada'))).grants as Json[]).length).toBe(2);
    expect(await listed(await login('uma'))).toEqual({ grants: [], next: null });
    const grant = encodeURIComponent(String(grants[0]?.grant));
    await request(dev, `DELETE /v1/sessions/one/grants/${grant}`);
    expect(((await listed(dev)).grants as Json[]).map(({ session }) => session)).toEqual(['two']);
    const page = (await request(dev, 'GET /v1/grants?limit=1')).body;
    expect(page.next).toEqual(expect.any(String));
  } finally {
    await server.stop();
  }
});
