/** The sign-in of the console with a cookie, and invitations, over real sockets. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { TestClient } from '../../packages/server/src/testing/client.ts';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { within } from '../../packages/server/src/testing/until.ts';
import { bearer, endOf, openAll } from './live.ts';

/** What a browser and the console keep. */
type Browser = { readonly cookie: string; readonly key: string };
type Asked = { readonly method?: string; readonly body?: object; readonly headers?: Record<string, string> };

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ PARLANCE_AUTH: 'required', PARLANCE_LOGIN_ATTEMPTS: '5' });
});
afterAll(() => server.stop());

/** As a page of the server asks. */
const ask = (path: string, { method = 'GET', body, headers }: Asked = {}, browser?: Browser) =>
  fetch(server.http + path, {
    method,
    headers: {
      'content-type': 'application/json',
      'sec-fetch-site': 'same-origin',
      ...(method !== 'GET' && { origin: server.http }),
      ...(browser && { cookie: browser.cookie, 'x-parlance-sign-in': browser.key }),
      ...headers,
    },
    body: body && JSON.stringify(body),
  });

async function signIn(name: string, password: string): Promise<Browser> {
  const response = await ask('/v1/auth/sign-in', { method: 'POST', body: { name, password } });
  if (response.status !== 200) throw new Error(`refused with ${response.status}`);
  const { key } = (await response.json()) as { key: string };
  return { key, cookie: String(response.headers.get('set-cookie')?.split(';')[0]) };
}

const ME = '/v1/auth/me';
const statusOf = async (browser: Browser) => (await ask(ME, {}, browser)).status;

/** A user whose sign-ins may end. */
let users = 0;
async function newUser(password = 'a password'): Promise<string> {
  const name = `user${++users}`;
  const admin = bearer(await server.login('ada', 'ada-password'));
  const body = { name, password, role: 'developer' };
  expect((await ask('/v1/admin/users', { method: 'POST', body, headers: admin })).status).toBe(201);
  return name;
}

test('a browser signs in, and requests with cookie and key are those of the user', async () => {
  const response = await ask('/v1/auth/sign-in', {
    method: 'POST',
    body: { name: 'dev', password: 'dev-password' },
  });
  const cookie = String(response.headers.get('set-cookie'));
  expect(cookie).toContain('HttpOnly');
  expect(cookie).toContain('SameSite=Strict');
  expect(response.headers.get('cache-control')).toBe('no-store');
  const { key, ...rest } = (await response.json()) as { key: string };
  expect(rest as object).toEqual({ name: 'dev', role: 'developer' });
  expect(key).not.toContain(String(cookie.split(/[=;]/)[1]));
  const browser = { key, cookie: String(cookie.split(';')[0]) };
  expect(await (await ask(ME, {}, browser)).json()).toMatchObject({ sub: 'dev', role: 'developer' });
  const command = { method: 'POST', body: { type: 'session.create' } };
  expect((await ask(`/v1/sessions/${crypto.randomUUID()}/commands`, command, browser)).status).toBe(200);
});

describe('a cookie alone', () => {
  const site = (name: string) => ({ 'sec-fetch-site': name });
  const all = ({ cookie, key }: Browser) => ({ cookie, 'x-parlance-sign-in': key });
  type Headers = (browser: Browser, other: Browser) => Record<string, string>;
  const WAYS: Readonly<Record<string, Headers>> = {
    'without the key': ({ cookie }) => ({ cookie, ...site('same-origin') }),
    'with the key of another sign-in': (browser, { key }) => ({
      ...all({ ...browser, key }),
      ...site('same-origin'),
    }),
    'from another site': (browser) => ({ ...all(browser), ...site('cross-site') }),
    'from another port of the host': (browser) => ({ ...all(browser), ...site('same-site') }),
    'from an address that a person has typed': (browser) => ({ ...all(browser), ...site('none') }),
    'from an allowed origin that is not this server': (browser) => ({
      ...all(browser),
      origin: 'http://127.0.0.1:1',
    }),
  };

  test.each(Object.entries(WAYS))('changes and reads nothing %s', async (_, headersOf) => {
    const browser = await signIn('dev', 'dev-password');
    const headers = headersOf(browser, await signIn('dev', 'dev-password'));
    const asked = [
      fetch(`${server.http}/v1/sessions/${crypto.randomUUID()}/commands`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ type: 'session.create' }),
      }),
      fetch(`${server.http}/v1/sessions`, { headers }),
      fetch(`${server.http}/v1/auth/sign-in`, { method: 'DELETE', headers }),
    ];
    for (const response of await Promise.all(asked)) {
      expect(response.status).toBe(401);
      expect(response.headers.get('access-control-allow-credentials')).toBeNull();
    }
    expect(await statusOf(browser)).toBe(200);
  });

  test('opens no WebSocket', async () => {
    const { cookie, key } = await signIn('dev', 'dev-password');
    const headers = { cookie, origin: server.http, 'x-parlance-sign-in': key };
    for (const path of ['/conversations', '/agentloop', '/broadcast']) {
      const client = await TestClient.connect(server.ws + path, headers);
      const { code, reason } = await within(client.closed, 'the end');
      expect([path, code, reason]).toEqual([path, 1008, 'A token is required.']);
    }
  });
});

test('a preflight of another origin allows no credentials', async () => {
  const response = await fetch(`${server.http}/v1/auth/sign-in`, {
    method: 'OPTIONS',
    headers: {
      origin: 'http://localhost:1',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'x-parlance-sign-in',
    },
  });
  expect(response.headers.get('access-control-allow-credentials')).toBeNull();
});

test('other pages and other programs cannot sign a browser in', async () => {
  const body = JSON.stringify({ name: 'dev', password: 'dev-password' });
  const senders: Record<string, string>[] = [
    {},
    { origin: 'http://localhost:1' },
    { 'sec-fetch-site': 'cross-site', origin: server.http },
    { 'sec-fetch-site': 'same-site' },
  ];
  for (const headers of senders) {
    const response = await fetch(`${server.http}/v1/auth/sign-in`, { method: 'POST', headers, body });
    expect(response.status).toBe(403);
    expect(response.headers.get('set-cookie')).toBeNull();
  }
});

test('wrong passwords are limited together with those of logins', async () => {
  const name = await newUser();
  const wrong = { name, password: 'wrong' };
  for (let attempt = 0; attempt < 3; attempt++)
    expect((await ask('/v1/auth/sign-in', { method: 'POST', body: wrong })).status).toBe(401);
  for (let attempt = 0; attempt < 2; attempt++)
    expect(
      (await ask('/v1/auth/login', { method: 'POST', body: { username: name, password: 'wrong' } })).status,
    ).toBe(401);
  const right = { name, password: 'a password' };
  const limited = await ask('/v1/auth/sign-in', { method: 'POST', body: right });
  expect([limited.status, Number(limited.headers.get('retry-after')) > 0]).toEqual([429, true]);
});

test('signing out ends this sign-in, its token and everything that is open with it', async () => {
  const name = await newUser();
  const [browser, other] = [await signIn(name, 'a password'), await signIn(name, 'a password')];
  const tokenOf = async (from: Browser) => {
    const response = await ask('/v1/auth/token', { method: 'POST' }, from);
    return ((await response.json()) as { access_token: string }).access_token;
  };
  const [token, kept] = [await tokenOf(browser), await tokenOf(other)];
  const [lost, open] = [await openAll(server, name, token), await openAll(server, name, kept)];
  const events = await ask('/v1/activity', { headers: { accept: 'text/event-stream' } }, browser);
  expect(events.status).toBe(200);

  const response = await ask('/v1/auth/sign-in', { method: 'DELETE' }, browser);
  expect(response.status).toBe(204);
  expect(response.headers.get('set-cookie')).toContain('Max-Age=0');
  await within(events.text(), 'the end of the stream');
  for (const { kind, ended } of lost)
    expect([kind, await within(ended, kind)]).toEqual([kind, endOf(kind, 'The token was revoked.')]);
  expect(await statusOf(browser)).toBe(401);
  expect((await ask(ME, { headers: bearer(token) })).status).toBe(401);
  for (const { alive } of open) await alive();
  expect(await statusOf(other)).toBe(200);
});

describe('all sign-ins of a user end', () => {
  const admin = async () => bearer(await server.login('ada', 'ada-password'));
  test.each([
    [
      'when the user signs out everywhere',
      (_: string, browser: Browser) => ask('/v1/auth/sign-out-everywhere', { method: 'POST' }, browser),
    ],
    [
      'with a new password of the user',
      (_: string, browser: Browser) =>
        ask(
          '/v1/auth/password',
          { method: 'POST', body: { old: 'a password', new: 'another one' } },
          browser,
        ),
    ],
    [
      'when an admin signs the user out',
      async (name: string) =>
        ask(`/v1/admin/users/${name}/logout`, { method: 'POST', headers: await admin() }),
    ],
    [
      'with another role',
      async (name: string) =>
        ask(`/v1/admin/users/${name}`, { method: 'PATCH', body: { role: 'user' }, headers: await admin() }),
    ],
    [
      'with the user',
      async (name: string) => ask(`/v1/admin/users/${name}`, { method: 'DELETE', headers: await admin() }),
    ],
  ])('%s', async (_, change) => {
    const name = await newUser();
    const browsers = [await signIn(name, 'a password'), await signIn(name, 'a password')] as const;
    const token = await server.login(name, 'a password');
    const events = await ask('/v1/activity', { headers: { accept: 'text/event-stream' } }, browsers[1]);
    expect(events.status).toBe(200);
    expect((await change(name, browsers[0])).ok).toBe(true);
    await within(events.text(), 'the end of the stream');
    for (const browser of browsers) expect(await statusOf(browser)).toBe(401);
    expect((await ask(ME, { headers: bearer(token) })).status).toBe(401);
  });
});

test('an API key signs nobody out, and gets no token of a sign-in', async () => {
  const name = await newUser();
  const browser = await signIn(name, 'a password');
  const made = await ask('/v1/keys', { method: 'POST', body: { name: 'key' } }, browser);
  const { key } = (await made.json()) as { key: string };
  for (const [method, path] of [
    ['POST', '/v1/auth/sign-out-everywhere'],
    ['POST', '/v1/auth/token'],
    ['POST', '/v1/auth/sign-in/refresh'],
    ['DELETE', '/v1/auth/sign-in'],
  ] as const)
    expect([path, (await ask(path, { method, headers: bearer(key) })).status]).toEqual([path, 403]);
  expect(await statusOf(browser)).toBe(200);
});

test('a refresh keeps a new cookie, and a sign-in survives a restart of the server', async () => {
  const browser = await signIn('dev', 'dev-password');
  const response = await ask('/v1/auth/sign-in/refresh', { method: 'POST' }, browser);
  expect([response.status, response.headers.get('set-cookie')]).toEqual([204, null]);
  const settings = { PARLANCE_DATA: server.data, PARLANCE_AUTH: 'required', PARLANCE_LOGIN_ATTEMPTS: '5' };
  await server.running.stop();
  server = await startTestServer(settings);
  expect(await statusOf(browser)).toBe(200);
});

test('behind a proxy with TLS, the cookie is for this host alone', async () => {
  const origin = 'https://parlance.example';
  const proxied = await startTestServer({ PARLANCE_AUTH: 'required', ALLOWED_ORIGINS: origin });
  try {
    const headers = { origin, 'sec-fetch-site': 'same-origin', host: 'parlance.example' };
    const response = await fetch(`${proxied.http}/v1/auth/sign-in`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ name: 'dev', password: 'dev-password' }),
    });
    const cookie = String(response.headers.get('set-cookie'));
    expect(cookie).toStartWith('__Host-parlance-');
    expect(cookie).toContain('Secure');
    const { key } = (await response.json()) as { key: string };
    const me = await fetch(proxied.http + ME, {
      headers: { ...headers, cookie: String(cookie.split(';')[0]), 'x-parlance-sign-in': key },
    });
    expect(await me.json()).toMatchObject({ sub: 'dev' });
  } finally {
    await proxied.stop();
  }
});

test('in open mode, a request without proof is that of the local user, and a signed-in one of its user', async () => {
  const open = await startTestServer();
  try {
    const headers = { origin: open.http, 'content-type': 'application/json' };
    const response = await fetch(`${open.http}/v1/auth/sign-in`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ name: 'uma', password: 'uma-password' }),
    });
    const { key } = (await response.json()) as { key: string };
    const cookie = String(response.headers.get('set-cookie')?.split(';')[0]);
    const nameWith = async (sent: Record<string, string>) => {
      const answer = await fetch(`${open.http}/v1/server`, { headers: sent });
      return ((await answer.json()) as { principal: { id: string } }).principal.id;
    };
    expect(await nameWith({ cookie, 'x-parlance-sign-in': key })).toBe('uma');
    expect(await nameWith({ cookie })).toBe('local');
    expect(await nameWith({ cookie, 'x-parlance-sign-in': key, 'sec-fetch-site': 'same-site' })).toBe(
      'local',
    );
  } finally {
    await open.stop();
  }
});

test('an invited person chooses a password, once', async () => {
  const admin = await signIn('ada', 'ada-password');
  const invite = (from: Browser, name: string) =>
    ask('/v1/admin/invitations', { method: 'POST', body: { name, role: 'developer' } }, from);
  expect((await invite(await signIn('dev', 'dev-password'), 'eve')).status).toBe(403);
  const made = await invite(admin, 'grace');
  const { token, id } = (await made.json()) as { token: string; id: string };
  expect([made.status, made.headers.get('cache-control')]).toEqual([201, 'no-store']);
  expect(await (await ask('/v1/admin/invitations', {}, admin)).json()).toMatchObject({
    invitations: [{ id, name: 'grace', role: 'developer', createdBy: 'ada' }],
  });
  const post = (path: string, body: object) => ask(`/v1/invitations/${path}`, { method: 'POST', body });
  expect(await (await post('find', { token })).json()).toMatchObject({ name: 'grace' });
  expect((await post('accept', { token, password: 'short' })).status).toBe(400);
  const accepted = await Promise.all(
    ['one password', 'two passwords'].map((password) => post('accept', { token, password })),
  );
  expect(accepted.map(({ status }) => status).sort()).toEqual([200, 404]);
  const password = accepted[0]?.status === 200 ? 'one password' : 'two passwords';
  expect(await statusOf(await signIn('grace', password))).toBe(200);
  expect((await post('find', { token })).status).toBe(404);

  const { id: other, token: revoked } = (await (await invite(admin, 'alan')).json()) as {
    token: string;
    id: string;
  };
  expect((await ask(`/v1/admin/invitations/${other}`, { method: 'DELETE' }, admin)).status).toBe(204);
  expect((await post('accept', { token: revoked, password: 'a password' })).status).toBe(404);
});
