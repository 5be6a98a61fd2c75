/** Pairing of browser extensions over HTTP and sockets. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runParlance } from '../../packages/cli/src/testing/run-parlance.ts';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { startProcess } from '../server-process.ts';
import { allow, ask, ORIGIN, OTHER_ORIGIN, request } from './extension.ts';

describe.each(['open', 'required'])('in %s mode', (mode) => {
  let server: TestServer;
  let person: string | undefined;
  beforeAll(async () => {
    server = await startTestServer({ PARLANCE_AUTH: mode });
    person = mode === 'open' ? undefined : await server.login('dev', 'dev-password');
  });
  afterAll(() => server.stop());
  const at = (path: string) => `${server.http}${path}`;

  test('an unpaired extension reaches only the pairing endpoints', async () => {
    const { code, token } = await request(server.http);
    const refused: [string, string, object?][] = [
      ['GET', '/health'],
      ['GET', '/v1/server'],
      ['GET', '/v1/pairings'],
      ['POST', '/v1/pairings/answer', { code, allow: true }],
      ['POST', '/v1/pairings/find', { code }],
      ['POST', '/v1/auth/login', { username: 'dev', password: 'dev-password' }],
      ['OPTIONS', '/v1/sessions'],
      ['DELETE', '/v1/pairings'],
      ['GET', '/'],
    ];
    for (const given of [undefined, token, person])
      for (const [method, path, body] of refused) {
        const answer = await ask(at(path), { method, body, token: given });
        expect([method, path, answer.status]).toEqual([method, path, 403]);
        expect(answer.headers.get('access-control-allow-origin')).toBeNull();
      }
    await expect(server.connect(`/extension?token=${token}`, { origin: ORIGIN })).rejects.toThrow();
    expect((await ask(at('/v1/pairings'), { method: 'OPTIONS' })).status).toBe(204);
    expect((await ask(at('/v1/pairings/own'), { token })).json).toMatchObject({ status: 'waiting' });
    expect((await ask(at('/v1/pairings/own'))).status).toBe(401);
    expect((await ask(at('/v1/pairings/own'), { token: code })).status).toBe(404);
  });

  test('once its code is approved, its token is valid for its own origin', async () => {
    const { code, token } = await request(server.http);
    const found = await ask(at('/v1/pairings/find'), { origin: null, token: person, body: { code } });
    expect(found.json).toMatchObject({ code, name: 'A browser', origin: ORIGIN });
    await allow(server.http, code, person);
    expect((await ask(at('/v1/pairings/own'), { token })).json).toEqual({
      status: 'allowed',
      owner: mode === 'open' ? 'local' : 'dev',
    });
    const about = await ask(at('/v1/server'), { token });
    expect(about.status).toBe(200);
    expect(about.headers.get('access-control-allow-origin')).toBe(ORIGIN);
    expect(about.json.principal).toMatchObject({ id: mode === 'open' ? 'local' : 'dev', role: 'developer' });
    expect((await ask(at('/v1/sessions'), { method: 'OPTIONS' })).status).toBe(204);
    // Clients other than the extension may not use its token.
    expect((await ask(at('/v1/server'), { token, origin: null })).status).toBe(403);
    expect((await ask(at('/v1/admin/settings'), { token, origin: null })).status).toBe(403);
    expect((await ask(at('/api/agent/interact'), { token, origin: null, body: { query: 'x' } })).status).toBe(
      403,
    );
    const bare = await server.connect(`/extension?token=${token}`);
    expect((await bare.closed).code).toBe(1008);
    const registering = await server.connect(`/extension${person ? `?token=${person}` : ''}`);
    registering.send({ type: 'client_registration', capabilities: ['open_url'], sessionToken: token });
    expect(await registering.next('error')).toBeDefined();
    registering.close();
    // The token of one origin is not valid for another, and the origin alone is not enough.
    expect((await ask(at('/v1/server'), { token, origin: OTHER_ORIGIN })).status).toBe(403);
    expect((await ask(at('/v1/server'))).status).toBe(403);
    expect((await ask(at('/v1/server'), { token: person })).status).toBe(403);
    expect((await ask(at('/v1/sessions'), { method: 'OPTIONS', origin: OTHER_ORIGIN })).status).toBe(403);
    const interact = await ask(at('/api/agent/interact'), { token, body: { query: 'hello' } });
    expect(interact.status).toBe(200);
  });

  test('a revoked extension is refused, and its sockets and streams are closed', async () => {
    const { code, token } = await request(server.http);
    const id = await allow(server.http, code, person);
    const socket = await server.connect(`/extension?token=${token}`, { origin: ORIGIN });
    socket.send({ type: 'client_registration', capabilities: ['open_url'] });
    await socket.next('registration_confirmed');
    const headers = { origin: ORIGIN, authorization: `Bearer ${token}` };
    const stream = await fetch(at('/v1/activity'), { headers });
    expect(stream.status).toBe(200);
    const listed = await ask(at('/v1/pairings'), { origin: null, token: person });
    expect(JSON.stringify(listed.json)).toContain(id);
    expect(JSON.stringify(listed.json)).not.toContain(token.slice(-30));
    const revoked = await ask(at(`/v1/pairings/${id}`), { method: 'DELETE', origin: null, token: person });
    expect(revoked.status).toBe(204);
    expect((await socket.closed).code).toBe(1008);
    await stream.text();
    expect((await ask(at('/v1/server'), { token })).status).toBe(403);
    expect((await ask(at('/v1/server'), { token, origin: null })).status).toBe(401);
    expect((await ask(at('/v1/pairings/own'), { token })).status).toBe(404);
  });

  test('an extension cannot manage pairings, but can end its own', async () => {
    const [paired, other] = [await request(server.http), await request(server.http)];
    const id = await allow(server.http, paired.code, person);
    const { token } = paired;
    for (const [method, path, body] of [
      ['GET', '/v1/pairings'],
      ['POST', '/v1/pairings/answer', { code: other.code, allow: true }],
      ['POST', '/v1/pairings/find', { code: other.code }],
      ['DELETE', `/v1/pairings/${id}`],
      ['GET', '/v1/keys'],
    ] as const)
      expect((await ask(at(path), { method, token, body })).status).toBe(403);
    expect((await ask(at('/v1/pairings/own'), { method: 'DELETE', token })).status).toBe(204);
    expect((await ask(at('/v1/server'), { token })).status).toBe(403);
  });

  test('waiting extensions are listed in open mode only', async () => {
    const { code } = await request(server.http);
    const { json } = await ask(at('/v1/pairings'), { origin: null, token: person });
    expect(JSON.stringify(json.waiting).includes(code)).toBe(mode === 'open');
    if (mode === 'required') {
      expect((await ask(at('/v1/pairings'), { origin: null })).status).toBe(401);
      const answer = await ask(at('/v1/pairings/answer'), { origin: null, body: { code, allow: true } });
      expect(answer.status).toBe(401);
    }
    const denied = await ask(at('/v1/pairings/answer'), {
      origin: null,
      token: person,
      body: { code, allow: false },
    });
    expect(denied.status).toBe(204);
  });

  test('too many requests from one address are refused', async () => {
    const statuses = new Set<number>();
    for (let count = 0; count < 25; count++)
      statuses.add((await ask(at('/v1/pairings'), { body: { name: 'Again' } })).status);
    expect([...statuses].at(-1)).toBe(429);
  });
});

test('an extension that an API key has approved ends with the key', async () => {
  const server = await startTestServer({ PARLANCE_AUTH: 'required' });
  const at = (path: string) => `${server.http}${path}`;
  const dev = await server.login('dev', 'dev-password');
  const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
  const made = await ask(at('/v1/keys'), { origin: null, token: dev, body: { name: 'a key', expiresAt } });
  const { id, key } = made.json as { id: string; key: string };
  const [own, other] = [await request(server.http), await request(server.http)];
  const pairing = await allow(server.http, own.code, key);
  await allow(server.http, other.code, dev);
  const listed = await ask(at('/v1/pairings'), { origin: null, token: dev });
  // Both may have been allowed in the same millisecond.
  expect(listed.json.pairings).toHaveLength(2);
  expect(listed.json.pairings).toContainEqual(expect.objectContaining({ id: pairing, key: id, expiresAt }));
  expect(listed.json.pairings).toContainEqual(expect.objectContaining({ key: null, expiresAt: null }));
  const socket = await server.connect(`/extension?token=${own.token}`, { origin: ORIGIN });
  socket.send({ type: 'client_registration', capabilities: ['open_url'] });
  await socket.next('registration_confirmed');
  expect((await ask(at(`/v1/keys/${id}`), { method: 'DELETE', origin: null, token: dev })).status).toBe(204);
  expect((await socket.closed).code).toBe(1008);
  expect((await ask(at('/v1/server'), { token: own.token })).status).toBe(403);
  expect((await ask(at('/v1/pairings/own'), { token: own.token })).status).toBe(404);
  expect((await ask(at('/v1/server'), { token: other.token })).status).toBe(200);
  await server.stop();
});

test('parlance pair connects an extension with the key of parlance login, until its logout', async () => {
  const server = await startTestServer({ PARLANCE_AUTH: 'required' });
  const cwd = mkdtempSync(join(tmpdir(), 'parlance-pairing-'));
  const run = (args: string[], input?: string) =>
    runParlance([...args, '--url', server.http], { cwd, ...(input && { input }) });
  expect(await run(['login', '--user', 'dev'], 'dev-password\n')).toMatchObject({ code: 0 });
  const { code, token } = await request(server.http);
  const paired = await run(['pair', code]);
  expect([paired.code, paired.stdout]).toEqual([
    0,
    expect.stringMatching(/^connected A browser as dev until \d{4}-\d\d-\d\d\n$/),
  ]);
  expect((await ask(`${server.http}/v1/server`, { token })).status).toBe(200);
  expect(await run(['login', '--logout'])).toMatchObject({ code: 0 });
  expect((await ask(`${server.http}/v1/pairings/own`, { token })).status).toBe(404);
  await server.stop();
});

test('neither a page nor a client without an origin can be paired', async () => {
  const server = await startTestServer();
  for (const origin of ['https://evil.example', 'null', null, server.http])
    expect((await ask(`${server.http}/v1/pairings`, { origin, body: { name: 'A page' } })).status).toBe(403);
  await server.stop();
});

test('pairings and requests survive a restart; those of open mode end when a login is required', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parlance-pairing-'));
  const first = await startProcess(folder);
  const [paired, waiting] = [await request(first.http), await request(first.http)];
  await allow(first.http, paired.code);
  await first.kill();
  const second = await startProcess(folder);
  expect((await ask(`${second.http}/v1/server`, { token: paired.token })).status).toBe(200);
  await allow(second.http, waiting.code);
  expect((await ask(`${second.http}/v1/server`, { token: waiting.token })).status).toBe(200);
  await second.kill();
  await using third = await startProcess(folder, { PARLANCE_AUTH: 'required' });
  expect((await ask(`${third.http}/v1/server`, { token: paired.token })).status).toBe(403);
});
