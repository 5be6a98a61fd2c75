/** Short passwords of existing users and in AUTH_USERS. */
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { postJson, startProcess } from '../server-process.ts';

test('a short password in AUTH_USERS is reported at start and works; another short one cannot be chosen', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parlance-short-'));
  const settings = { PARLANCE_AUTH: 'required', LOG_LEVEL: 'warn' };
  const first = await startProcess(folder, { ...settings, AUTH_USERS: 'old:x:user;ann:long-enough:user' });
  await first.logged('AUTH_USERS has passwords with fewer than 8 characters');
  const log = first.terminate().then(first.stderr);
  expect(await log).toContain('"users":["old"]');

  // The user remains when AUTH_USERS no longer contains it.
  await using server = await startProcess(folder, { ...settings, AUTH_USERS: 'ann:long-enough:user' });
  const login = (password: string) => postJson(`${server.http}/v1/auth/login`, { username: 'old', password });
  const { status, body } = await login('x');
  expect(status).toBe(200);
  const bearer = { authorization: `Bearer ${body.access_token}` };
  const change = (chosen: string) =>
    postJson(`${server.http}/v1/auth/password`, { old: 'x', new: chosen }, bearer);
  expect(await change('y')).toMatchObject({
    status: 400,
    body: { detail: 'the password has fewer than 8 characters' },
  });
  expect((await login('x')).status).toBe(200);
  expect((await change('long-enough')).status).toBe(200);
  expect((await login('long-enough')).status).toBe(200);
  await server.terminate();
  expect(await server.stderr()).not.toContain('AUTH_USERS');
  rmSync(folder, { recursive: true, force: true });
});
