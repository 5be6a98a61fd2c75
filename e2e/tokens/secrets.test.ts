import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { runParlance } from '../../packages/cli/src/testing/run-parlance.ts';
import { startProcess } from '../server-process.ts';
import { bearer } from './live.ts';

test('no token, password or token id is in the log or in a response', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parlance-token-secrets-'));
  const server = await startProcess(folder, { LOG_LEVEL: 'trace', PARLANCE_LOGIN_ATTEMPTS: '2' });
  const responses: string[] = [];
  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(server.http + path, { method: 'POST', ...init });
    const text = await response.text();
    if (!response.ok) responses.push(text);
    return text;
  };
  const login = (password: string) =>
    ask('/v1/auth/login', { body: JSON.stringify({ username: 'dev', password }) });
  const tokenFrom = async (password: string) => String(JSON.parse(await login(password)).access_token);

  const one = await tokenFrom('dev-password');
  const other = await tokenFrom('dev-password');
  const forged = `${one.slice(0, -6)}forged`;
  const first = await server.connect(`/ws?token=${one}`);
  const second = await server.connect(`/broadcast?token=${other}`);
  for (const bad of [forged, 'not.a.token']) {
    const client = await server.connect(`/ws?token=${bad}`);
    responses.push((await client.closed).reason);
    await ask(`/v1/sessions/x/commands?token=${bad}`);
    await ask('/api/agent/interact', { headers: bearer(bad) });
    await ask('/api/pusher/auth', { headers: bearer(bad) });
    await ask('/v1/auth/logout', { headers: bearer(bad) });
  }
  await ask(`/v1/nowhere?token=${one}`, { headers: bearer(one), body: '{' });
  await ask('/v1/auth/logout', { headers: bearer(one) });
  responses.push((await first.closed).reason);
  const change = ['user', 'password', 'dev', '--data', join(folder, 'data')];
  const changed = await runParlance(change, { cwd: folder, input: 'a-new-password\n' });
  responses.push(changed.stdout, changed.stderr, (await second.closed).reason);
  for (const _ of [1, 2, 3]) await login('a-wrong-password');
  await server.kill();

  const text = (await server.stderr()) + responses.join('\n');
  expect(responses.length).toBeGreaterThan(15);
  expect(text).toContain('socket rejected: invalid token');
  const ids = [one, other].map((token) => String(decodeJwt(token).jti));
  const secrets = [one, other, forged, 'not.a.token', ...ids];
  for (const secret of [...secrets, 'dev-password', 'a-new-password', 'a-wrong-password'])
    expect(text).not.toContain(secret);
  // nor a part: the signature makes a token valid
  for (const token of [one, other]) expect(text).not.toContain(String(token.split('.')[2]));
  rmSync(folder, { recursive: true });
});
