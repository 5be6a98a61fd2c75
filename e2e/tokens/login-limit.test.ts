import { afterEach, describe, expect, test } from 'bun:test';
import { runParlance } from '../../packages/cli/src/testing/run-parlance.ts';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { bearer } from './live.ts';

let server: TestServer;
afterEach(() => server.stop());

type Answer = { status: number; retryAfter: string | null; body: Record<string, unknown> };

/** The login endpoints. */
const LOGINS: Record<string, (name: string, password: string, from?: string) => Promise<Answer>> = {
  '/v1/auth/login': (username, password, from) => ask('/v1/auth/login', { username, password }, from),
  '/api/v1/auth/login': (email, password, from) => ask('/api/v1/auth/login', { email, password }, from),
};

async function ask(path: string, body: object, from?: string): Promise<Answer> {
  const response = await fetch(server.http + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(from && { 'x-forwarded-for': from }) },
    body: JSON.stringify(body),
  });
  const json = (await response.json()) as Record<string, unknown>;
  return { status: response.status, retryAfter: response.headers.get('retry-after'), body: json };
}

const limited = async (login: Promise<Answer>) => {
  const answer = await login;
  expect(answer.status).toBe(429);
  expect(Number(answer.retryAfter)).toBeWithin(1, 901);
  return answer;
};

describe('after three failures the correct password is refused as well', () => {
  for (const [path, login] of Object.entries(LOGINS))
    test(`at ${path}, and in the same way for an unknown name`, async () => {
      server = await startTestServer({ PARLANCE_LOGIN_ATTEMPTS: '3' });
      const known = await login('uma', 'uma-password');
      expect(known.status).toBe(200);
      for (const name of ['uma', 'nobody']) {
        for (const _ of [1, 2, 3]) expect((await login(name, 'wrong')).status).toBe(401);
        const { body } = await limited(login(name, `${name}-password`));
        expect(JSON.stringify(body)).toContain('Too many failed logins.');
        expect(body).toMatchObject(SHAPES[path] ?? {});
      }
      // they share the count, and other users are not affected
      for (const other of Object.values(LOGINS)) await limited(other('uma', 'uma-password'));
      expect((await login('dev', 'dev-password')).status).toBe(200);
      // existing logins stay valid
      const token = String(known.body.access_token ?? known.body.accessToken);
      expect((await fetch(`${server.http}/v1/auth/me`, { headers: bearer(token) })).status).toBe(200);
    });
});

/** in the format of each contract */
const SHAPES: Record<string, object> = {
  '/v1/auth/login': { detail: expect.any(String) },
  '/api/v1/auth/login': {
    success: false,
    code: 'RATE_LIMIT',
    message: expect.any(String),
    retryAfter: expect.any(Number),
  },
};

const login = (name: string, password: string, from?: string) =>
  ask('/v1/auth/login', { username: name, password }, from);

test('concurrent failures are limited as well', async () => {
  server = await startTestServer({ PARLANCE_LOGIN_ATTEMPTS: '3' });
  const answers = await Promise.all(Array.from({ length: 40 }, () => login('uma', 'wrong')));
  expect(answers.map(({ status }) => status).sort()).toEqual([401, 401, 401, ...Array(37).fill(429)]);
});

test('a success resets earlier failures', async () => {
  server = await startTestServer({ PARLANCE_LOGIN_ATTEMPTS: '3' });
  for (const password of ['wrong', 'wrong', 'uma-password', 'wrong', 'wrong', 'uma-password'])
    expect((await login('uma', password)).status).toBe(password === 'wrong' ? 401 : 200);
});

test('an address that tries many names is limited', async () => {
  server = await startTestServer({ PARLANCE_LOGIN_ATTEMPTS: '1' });
  for (let n = 0; n < 10; n++) expect((await login(`user${n}`, 'uma-password')).status).toBe(401);
  await limited(login('user10', 'uma-password'));
  await limited(login('not a name', 'uma-password'));
});

test('behind a proxy, failed logins from one address do not lock the user out at another', async () => {
  server = await startTestServer({ PARLANCE_LOGIN_ATTEMPTS: '2', PARLANCE_TRUSTED_PROXIES: '1' });
  for (const _ of [1, 2]) expect((await login('uma', 'wrong', '203.0.113.9')).status).toBe(401);
  await limited(login('uma', 'uma-password', '203.0.113.9'));
  // the client's own X-Forwarded-For is not trusted
  await limited(login('uma', 'uma-password', '198.51.100.1, 203.0.113.9'));
  expect((await login('uma', 'uma-password', '198.51.100.1')).status).toBe(200);
});

test('without a proxy X-Forwarded-For is not trusted', async () => {
  server = await startTestServer({ PARLANCE_LOGIN_ATTEMPTS: '2' });
  for (const n of [1, 2]) expect((await login('uma', 'wrong', `203.0.113.${n}`)).status).toBe(401);
  await limited(login('uma', 'uma-password', '203.0.113.3'));
});

test('the limit also applies to a user that is added after failed logins', async () => {
  server = await startTestServer({ PARLANCE_LOGIN_ATTEMPTS: '1' });
  expect((await login('eve', 'wrong')).status).toBe(401);
  const add = ['user', 'add', 'eve', '--password', 'right-one', '--data', server.data];
  expect((await runParlance(add, { cwd: server.root })).code).toBe(0);
  await limited(login('eve', 'right-one'));
});
