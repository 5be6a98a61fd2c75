/** Signing in to MCP servers over the native API and the command line. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runParlance } from '../../packages/cli/src/testing/run-parlance.ts';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { type OAuthServer, oauthServer } from '../../packages/server/src/testing/tools/oauth-server.ts';
import { until } from '../../packages/server/src/testing/until.ts';

const folder = mkdtempSync(join(tmpdir(), 'parlance-sign-in-'));
let shared: OAuthServer;
let own: OAuthServer;
let server: TestServer;
const tokens: Record<string, string> = {};

beforeAll(async () => {
  [shared, own] = [oauthServer(), oauthServer()];
  const config = join(folder, 'parlance.json');
  const mcpServers = { shared: { url: shared.url }, own: { url: own.url, signIn: 'user' } };
  writeFileSync(config, JSON.stringify({ mcpServers }));
  server = await startTestServer({
    PARLANCE_CONFIG: config,
    AUTH_USERS: 'ada:secret-of-ada:admin;bob:secret-of-bob:user;eve:secret-of-eve:user',
    PARLANCE_AUTH: 'required',
  });
  for (const name of ['ada', 'bob', 'eve']) tokens[name] = await server.login(name, `secret-of-${name}`);
});
afterAll(async () => {
  await server.stop();
  for (const one of [shared, own]) one[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});

async function ask(user: string, method: string, path: string, body?: object) {
  const answer = await fetch(`${server.http}${path}`, {
    method,
    headers: { authorization: `Bearer ${tokens[user]}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: answers of several endpoints
  const data: any = answer.status === 204 ? null : await answer.json().catch(() => null);
  return { status: answer.status, data };
}

/** What a browser does: it follows the link, is led back to this server, and from there to the console. */
async function browse(link: string, at: OAuthServer, account: string): Promise<string> {
  const back = await at.approve(link, account);
  expect(back.origin).toBe(server.http);
  const answer = await fetch(back, { redirect: 'manual' });
  expect(answer.status).toBe(302);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  const [page = '', query = ''] = (answer.headers.get('location') ?? '').split('?');
  expect(page).toBe('/#/signed-in');
  return query;
}

test('an admin signs in for all users; others cannot begin, end or sign out', async () => {
  expect((await ask('bob', 'POST', '/v1/mcp/sign-ins/shared')).status).toBe(404);
  const begun = await ask('ada', 'POST', '/v1/mcp/sign-ins/shared');
  expect(begun.status).toBe(200);
  const query = await browse(begun.data.link, shared, 'team');
  expect((await ask('bob', 'POST', '/v1/mcp/sign-ins', { query })).status).toBe(404);
  expect(await ask('ada', 'POST', '/v1/mcp/sign-ins', { query })).toEqual({
    status: 200,
    data: { name: 'shared' },
  });
  const state = async () =>
    (await ask('ada', 'GET', '/v1/admin/mcp')).data.servers.find(
      ({ name }: { name: string }) => name === 'shared',
    );
  expect(await state()).toMatchObject({ state: 'ready', signIn: { who: 'server', signedIn: 1 } });
  expect((await ask('bob', 'DELETE', '/v1/mcp/sign-ins/shared')).status).toBe(404);
  expect((await ask('ada', 'DELETE', '/v1/mcp/sign-ins/shared')).status).toBe(204);
  expect(await state()).toMatchObject({ state: 'sign-in' });
});

test('users sign in for themselves, and only they end what they began', async () => {
  const begun = await ask('bob', 'POST', '/v1/mcp/sign-ins/own');
  const query = await browse(begun.data.link, own, 'bob');
  for (const other of ['eve', 'ada'])
    expect((await ask(other, 'POST', '/v1/mcp/sign-ins', { query })).status).toBe(404);
  expect((await ask('bob', 'POST', '/v1/mcp/sign-ins', { query })).status).toBe(200);
  const listed = async (user: string) => (await ask(user, 'GET', '/v1/mcp/sign-ins')).data.servers;
  expect(await listed('bob')).toEqual([{ name: 'own', signedIn: true }]);
  expect(await listed('eve')).toEqual([{ name: 'own', signedIn: false }]);
});

test('without a token, nothing begins or ends', async () => {
  for (const path of ['/v1/mcp/sign-ins', '/v1/mcp/sign-ins/own'])
    expect((await fetch(`${server.http}${path}`, { method: 'POST' })).status).toBe(401);
});

test('the command line prints the link', async () => {
  const { stdout, code } = await runParlance(
    ['mcp', 'sign-in', 'shared', '--url', server.http, '--token', tokens.ada ?? ''],
    {
      cwd: folder,
    },
  );
  expect(code).toBe(0);
  const query = await browse(stdout.trim(), shared, 'team');
  expect((await ask('ada', 'POST', '/v1/mcp/sign-ins', { query })).status).toBe(200);
  await until(async () => (await ask('ada', 'GET', '/v1/admin/mcp')).data.servers[0].state === 'ready');
});
