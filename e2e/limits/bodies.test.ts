/** Time and memory that request bodies can use, with and without a token. */
import { afterEach, describe, expect, test } from 'bun:test';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { until } from '../../packages/server/src/testing/until.ts';
import { slowRequest } from './slow-request.ts';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const METRICS_TOKEN = 'metrics-token-of-at-least-32-bytes';

async function serve(settings: Record<string, string> = {}): Promise<TestServer> {
  const server = await startTestServer({
    PARLANCE_AUTH: 'required',
    PARLANCE_METRICS_TOKEN: METRICS_TOKEN,
    ...settings,
  });
  stops.push(() => server.stop());
  return server;
}

function slow(server: TestServer, head: Parameters<typeof slowRequest>[1]) {
  const request = slowRequest(server.http, head);
  stops.push(request.end);
  return request;
}

type Caller = { readonly http: string; readonly token?: string };
const as = (token: string, { http }: TestServer): Caller => ({ http, token });

async function post({ http, token }: Caller, path: string, body: string) {
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (token !== undefined) headers.authorization = `Bearer ${token}`;
  const response = await fetch(http + path, { method: 'POST', headers, body });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

async function metric(server: TestServer, line: string): Promise<number> {
  const response = await fetch(`${server.http}/metrics`, {
    headers: { authorization: `Bearer ${METRICS_TOKEN}` },
  });
  const found = (await response.text()).split('\n').find((text) => text.startsWith(`${line} `));
  return found === undefined ? Number.NaN : Number(found.slice(line.length));
}

const held = (server: TestServer, sender: 'anonymous' | 'identified') =>
  metric(server, `parlance_unparsed_bytes{sender="${sender}"}`);

/** Resolves when this many bytes are buffered; each poll is a request that is answered in the meantime. */
async function untilHeld(server: TestServer, sender: 'anonymous' | 'identified', bytes: number) {
  expect(await held(server, sender)).not.toBeNaN();
  await until(async () => (await held(server, sender)) === bytes);
}

const LOGINS = [
  ['/v1/auth/login', { username: 'uma', password: 'uma-password' }, 'detail'],
  ['/api/v1/auth/login', { email: 'uma', password: 'uma-password' }, 'message'],
] as const;

describe.each(LOGINS)('%s', (path, credentials, field) => {
  const login = JSON.stringify(credentials);
  const padded = (bytes: number) => login + ' '.repeat(bytes - login.length);

  test('accepts a body of 16 KB, and not one byte more', async () => {
    const server = await serve();
    expect((await post(server, path, padded(16_384))).status).toBe(200);
    const refused = await post(server, path, padded(16_385));
    expect(refused.status).toBe(413);
    expect(JSON.parse(refused.text)).toMatchObject({ [field]: 'The body is larger than 16384 bytes.' });
    expect(await metric(server, 'parlance_refusals_total{limit="maxLoginBody"}')).toBe(1);
  });

  test('refuses a body that declares a larger size, or exceeds the limit, without waiting', async () => {
    const server = await serve();
    const declared = slow(server, { path, length: 11_000_000 });
    const chunked = slow(server, { path });
    chunked.send('x'.repeat(16_385));
    for (const request of [declared, chunked]) expect(await request.answer).toStartWith('HTTP/1.1 413 ');
    await untilHeld(server, 'anonymous', 0);
  });

  test('refuses deep nesting without parsing it', async () => {
    const server = await serve();
    const refused = await post(server, path, '['.repeat(16_000));
    expect([400, 422]).toContain(refused.status);
    expect(JSON.parse(refused.text)[field]).toContain('nested too deeply');
  });

  test('a late body is answered with 408, and the connection is closed', async () => {
    const server = await serve({ PARLANCE_IDENTIFY_WITHIN: '100' });
    const request = slow(server, { path, length: login.length });
    request.send(login.slice(0, 10));
    const answer = await request.answer;
    expect(answer).toStartWith('HTTP/1.1 408 ');
    expect(answer).toContain('The body did not arrive in time.');
    await request.closed;
    expect(await metric(server, 'parlance_refusals_total{limit="bodyWithin"}')).toBe(1);
  });

  test('stalled bodies use few bytes each, and other requests are answered', async () => {
    const server = await serve();
    const token = await server.login('uma', 'uma-password');
    const requests = Array.from({ length: 100 }, () => slow(server, { path }));
    for (const request of requests) request.send('x'.repeat(1_000));
    await untilHeld(server, 'anonymous', 100_000);
    const command = JSON.stringify({ type: 'input.submit', parts: [{ type: 'text', text: 'echo hi' }] });
    expect((await post(as(token, server), '/v1/sessions/a/commands', command)).status).toBe(200);
    expect((await post(server, path, login)).status).toBe(200);
    for (const request of requests) request.end();
    await untilHeld(server, 'anonymous', 0);
  });

  test('beyond the anonymous budget the next caller gets a retry time; callers with a token continue', async () => {
    const server = await serve({ PARLANCE_ANONYMOUS_BYTES: '10000' });
    const token = await server.login('uma', 'uma-password');
    const request = slow(server, { path });
    request.send('x'.repeat(9_990));
    await untilHeld(server, 'anonymous', 9_990);
    const refused = await post(server, path, login);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
    expect(JSON.parse(refused.text)[field]).toStartWith('The server is receiving too much at once.');
    const command = JSON.stringify({ type: 'session.create' });
    expect((await post(as(token, server), '/v1/sessions/a/commands', command)).status).toBe(200);
    request.end();
    await untilHeld(server, 'anonymous', 0);
    expect((await post(server, path, login)).status).toBe(200);
  });
});

test('an address that uses its share of the budget does not prevent others from logging in', async () => {
  const server = await serve({ PARLANCE_TRUSTED_PROXIES: '1', PARLANCE_ANONYMOUS_BYTES: '1000000' });
  const login = async (from: string) => {
    const headers = { 'content-type': 'application/json', 'x-forwarded-for': from };
    const body = JSON.stringify({ username: 'uma', password: 'uma-password' });
    return (await fetch(`${server.http}/v1/auth/login`, { method: 'POST', headers, body })).status;
  };
  // One address may use four bodies of maximum size.
  for (let count = 0; count < 4; count++)
    slow(server, { path: '/v1/auth/login', from: '192.0.2.1' }).send('x'.repeat(16_384));
  await untilHeld(server, 'anonymous', 4 * 16_384);
  expect([await login('192.0.2.1'), await login('192.0.2.2')]).toEqual([503, 200]);
});

/** Every route with a JSON body for authenticated callers, with its error for deep nesting. */
const ROUTES: readonly (readonly [path: string, status: number, message: string])[] = [
  ['/v1/sessions/a/commands', 400, 'The body is nested too deeply.'],
  ['/v1/approvals/a', 400, 'The body is nested too deeply.'],
  ['/v1/auth/password', 400, 'The body is nested too deeply.'],
  ['/v1/conversations', 422, 'The body is nested too deeply'],
  ['/api/summarize', 400, 'The body is nested too deeply'],
  ['/api/agent/interact', 400, 'body: is nested too deeply'],
  ['/api/session', 400, 'body: is nested too deeply'],
  ['/api/session/init', 400, 'body: is nested too deeply'],
  ['/api/v1/user/preferences', 400, 'body: is nested too deeply'],
  ['/api/pusher/auth', 400, 'Bad Request'],
];

test('deep nesting is refused before it is parsed, on every route', async () => {
  const server = await serve();
  const token = await server.login('uma', 'uma-password');
  // A parser would only fail at the end, which is not JSON.
  const deep = '{"a":'.repeat(2_000);
  for (const [path, status, message] of ROUTES) {
    const refused = await post(as(token, server), path, deep);
    expect([path, refused.status]).toEqual([path, status]);
    expect(refused.text).toContain(message);
  }
  expect((await post(server, '/v1/sessions/a/commands', deep)).status).toBe(401);
});

test('hundreds of thousands of keys are refused before they are parsed', async () => {
  const server = await serve();
  const token = await server.login('uma', 'uma-password');
  // The end is not JSON: a parser would report that instead.
  const wide = `{${Array.from({ length: 250_001 }, (_, at) => `"k${at}":1`).join(',')}`;
  for (const [path, status, message] of ROUTES) {
    // Its body is too small for that many keys.
    if (path === '/api/pusher/auth') continue;
    const refused = await post(as(token, server), path, wide);
    expect([path, refused.status]).toEqual([path, status]);
    expect(refused.text).toContain(message.replace('is nested too deeply', 'has too many keys'));
  }
});

test('a tree of millions of empty nodes is refused for its size, without walking it', async () => {
  const server = await serve();
  const token = await server.login('uma', 'uma-password');
  const page = '"url":"https://shop.example/","query":"click Buy"';
  const tree = `{${page},"interactiveTree":[${'[],'.repeat(3_000_000)}1]}`;
  const refused = await post(as(token, server), '/api/agent/interact', tree);
  expect(refused.status).toBe(400);
  expect(refused.text).toContain('interactiveTree: must have at most 1000000 characters of JSON');
});

test('without a token, the body of a protected endpoint is not read', async () => {
  const server = await serve();
  for (const path of ['/v1/sessions/a/commands', '/api/summarize', '/api/agent/interact']) {
    const request = slow(server, { path, length: 11_000_000 });
    request.send('x'.repeat(1_000_000));
    expect(await request.answer).toStartWith('HTTP/1.1 401 ');
    expect([await held(server, 'anonymous'), await held(server, 'identified')]).toEqual([0, 0]);
  }
});

test('a signed request is not read before its signature is verified', async () => {
  const server = await serve({ SOCKUDO_APP_SECRET: 'a secret of the operator' });
  const query = `auth_key=app-key&auth_version=1.0&auth_timestamp=${Math.floor(Date.now() / 1000)}&auth_signature=0`;
  const request = slow(server, { path: `/apps/app-id/events?${query}`, length: 1_000_000 });
  request.send('x'.repeat(1_000));
  expect(await request.answer).toContain('Invalid signature');
  expect(await held(server, 'identified')).toBe(0);
});

test('a body of an authenticated caller has a deadline as well', async () => {
  const server = await serve({ PARLANCE_BODY_WITHIN: '100' });
  const token = await server.login('uma', 'uma-password');
  for (const path of ['/v1/sessions/a/commands', '/api/summarize', '/api/agent/interact']) {
    const request = slow(server, { path, length: 1_000, token });
    request.send('{');
    const answer = await request.answer;
    expect(answer).toStartWith('HTTP/1.1 408 ');
    expect(answer).toContain('The body did not arrive in time.');
    await request.closed;
  }
});

describe('legitimate uses', () => {
  test('a slow but steady upload', async () => {
    const server = await serve();
    const token = await server.login('uma', 'uma-password');
    const body = JSON.stringify({ content: 'Bees live in hives. '.repeat(5_000), title: 'Bees' });
    const request = slow(server, { path: '/api/summarize', length: body.length, token });
    const size = Math.ceil(body.length / 10);
    for (let at = 0; at + size < body.length; at += size) {
      request.send(body.slice(at, at + size));
      await untilHeld(server, 'identified', at + size);
    }
    request.send(body.slice(9 * size));
    expect(await request.answer).toStartWith('HTTP/1.1 200 ');
    await untilHeld(server, 'identified', 0);
  });

  test('10 MB to summarise, a page of 1 MB, a tree as deep as real pages, an attachment', async () => {
    const server = await serve();
    const token = await server.login('uma', 'uma-password');
    const content = 'Bees live in hives. '.repeat(500_000);
    const summary = await post(as(token, server), '/api/summarize', JSON.stringify({ content }));
    expect(summary.status).toBe(200);
    const page = { url: 'https://shop.example/', query: 'click Buy' };
    const dom = `<button id="1">Buy</button>${'<p>text</p>'.repeat(90_000)}`;
    const large = await post(as(token, server), '/api/agent/interact', JSON.stringify({ ...page, dom }));
    expect(large.status).toBe(200);
    let tree: object = { id: 1, role: 'button', name: 'Buy' };
    for (let level = 0; level < 90; level++) tree = { role: 'group', children: [tree] };
    const interactiveTree = [tree];
    const deep = await post(
      as(token, server),
      '/api/agent/interact',
      JSON.stringify({ ...page, interactiveTree }),
    );
    expect(deep.status).toBe(200);
    const image = { type: 'image', mime: 'image/png', data: 'A'.repeat(4_000_000) };
    const command = { type: 'input.submit', parts: [{ type: 'text', text: 'See' }, image] };
    const sent = await post(as(token, server), '/v1/sessions/a/commands', JSON.stringify(command));
    expect(sent.status).toBe(200);
  });

  test('in open mode, large bodies without a token', async () => {
    const server = await serve({ PARLANCE_AUTH: 'open' });
    const content = 'Bees live in hives. '.repeat(50_000);
    expect((await post(server, '/api/summarize', JSON.stringify({ content }))).status).toBe(200);
    const command = { type: 'input.submit', parts: [{ type: 'text', text: content }] };
    expect((await post(server, '/v1/sessions/a/commands', JSON.stringify(command))).status).toBe(200);
  });
});
