import { expect, setSystemTime, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SignJWT } from 'jose';
import { openSqliteStore } from '../../packages/server/src/commands/users.ts';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { slowness } from '../../packages/server/src/testing/until.ts';
import { bearer, endOf, openAll } from './live.ts';

const SECRET = 'a secret that only this test and its server know';
const TOLERANCE_SECONDS = 30;

/** A token of uma as the server could have issued it, with other times. */
async function tokenOf(server: TestServer, claims: { exp: number; nbf?: number }): Promise<string> {
  const store = openSqliteStore(server.data);
  const user = await store.find('uma');
  await store.close();
  return new SignJWT({ ...claims, gen: user?.tokenVersion })
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject('uma')
    .setIssuer('parlance')
    .setAudience('parlance')
    .setJti(crypto.randomUUID())
    .setIssuedAt(claims.exp - 86_400)
    .sign(new TextEncoder().encode(SECRET));
}

const seconds = () => Math.floor(Date.now() / 1000);

const me = async (server: TestServer, token: string) =>
  (await fetch(`${server.http}/v1/auth/me`, { headers: bearer(token) })).status;

test('connections end when their token expires', async () => {
  const server = await startTestServer({ AUTH_SECRET: SECRET });
  // Valid for five more seconds, longer on a slow machine; opening everything takes less than one.
  const token = await tokenOf(server, { exp: seconds() - TOLERANCE_SECONDS + Math.ceil(6 * slowness()) });
  for (const { kind, ended } of await openAll(server, 'uma', token))
    expect([kind, await ended]).toEqual([kind, endOf(kind, 'The token has expired.')]);
  expect(await me(server, token)).toBe(401);
  await server.stop();
});

test('connections end when the clock jumps beyond the expiry, but not before', async () => {
  const server = await startTestServer({ AUTH_SECRET: SECRET });
  try {
    const token = await tokenOf(server, { exp: seconds() + 7_200 });
    const short = await tokenOf(server, { exp: seconds() + 1_800 });
    const all = await openAll(server, 'uma', token);
    const first = await server.connect(`/broadcast?token=${short}`);
    setSystemTime(Date.now() + 3_600_000);
    expect(await first.closed).toEqual({ code: 1008, reason: 'The token has expired.' });
    for (const live of all) await live.alive();
    setSystemTime(Date.now() + 7_200_000);
    for (const { kind, ended } of all)
      expect([kind, await ended]).toEqual([kind, endOf(kind, 'The token has expired.')]);
  } finally {
    setSystemTime();
    await server.stop();
  }
});

test('a token is valid for 30 seconds beyond its times, because clocks differ', async () => {
  const server = await startTestServer({ AUTH_SECRET: SECRET });
  const hour = seconds() + 3600;
  expect(await me(server, await tokenOf(server, { exp: hour }))).toBe(200);
  expect(await me(server, await tokenOf(server, { exp: seconds() - 20 }))).toBe(200);
  expect(await me(server, await tokenOf(server, { exp: seconds() - 31 }))).toBe(401);
  expect(await me(server, await tokenOf(server, { exp: hour, nbf: seconds() + 20 }))).toBe(200);
  expect(await me(server, await tokenOf(server, { exp: hour, nbf: seconds() + 60 }))).toBe(401);
  await server.stop();
});

test('a token survives a restart, unless it was revoked or AUTH_USERS has changed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parlance-tokens-'));
  const start = (password: string, role: string) =>
    startTestServer({
      PARLANCE_DATA: join(folder, 'data'),
      AUTH_USERS: `uma:${password}:${role};dev:dev-password:developer`,
    });
  const first = await start('one', 'user');
  const uma = await first.login('uma', 'one');
  const dev = await first.login('dev', 'dev-password');
  const gone = await first.login('dev', 'dev-password');
  await fetch(`${first.http}/v1/auth/logout`, { method: 'POST', headers: bearer(gone) });
  await first.stop();

  const second = await start('one', 'user');
  expect([await me(second, uma), await me(second, dev), await me(second, gone)]).toEqual([200, 200, 401]);
  await second.stop();

  const third = await start('two', 'user');
  expect([await me(third, uma), await me(third, dev)]).toEqual([401, 200]);
  const renewed = await third.login('uma', 'two');
  expect(await me(third, renewed)).toBe(200);
  await third.stop();

  const fourth = await start('two', 'admin');
  expect([await me(fourth, renewed), await me(fourth, dev)]).toEqual([401, 200]);
  await fourth.stop();
  rmSync(folder, { recursive: true });
});
