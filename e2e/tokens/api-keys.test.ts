import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runParlance } from '../../packages/cli/src/testing/run-parlance.ts';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { within } from '../../packages/server/src/testing/until.ts';
import { startProcess } from '../server-process.ts';
import { bearer, endOf, openAll } from './live.ts';

/** Like an operator: from another process, while the server runs. */
async function parlance(server: { root: string; data: string }, ...args: string[]): Promise<string> {
  const { code, stdout } = await runParlance([...args, '--data', server.data], { cwd: server.root });
  expect(code).toBe(0);
  return stdout.trim();
}

const idOf = (key: string) => key.slice(4, 20);

describe('connections of an API key end with', () => {
  let server: TestServer;
  let ada: string;
  beforeAll(async () => {
    server = await startTestServer();
    ada = await server.login('ada', 'ada-password');
  });
  afterAll(() => server.stop());

  const asAdmin = async (method: string, path: string) =>
    expect((await fetch(server.http + path, { method, headers: bearer(ada) })).status).toBe(204);

  const WAYS: Record<string, { change(name: string, id: string): Promise<unknown>; ends: 'one' | 'all' }> = {
    'a revocation over HTTP': { change: (_, id) => asAdmin('DELETE', `/v1/keys/${id}`), ends: 'one' },
    'parlance key revoke': { change: (_, id) => parlance(server, 'key', 'revoke', id), ends: 'one' },
    'a lower role of the owner': {
      change: (name) => parlance(server, 'user', 'role', name, '--role', 'user'),
      ends: 'all',
    },
    'removal of the owner': { change: (name) => asAdmin('DELETE', `/v1/admin/users/${name}`), ends: 'all' },
  };

  test.each(Object.entries(WAYS))('%s', async (_, { change, ends }) => {
    const name = `user-${crypto.randomUUID().slice(0, 8)}`;
    await parlance(server, 'user', 'add', name, '--role', 'developer', '--password', 'password');
    const [key, other] = [
      await parlance(server, 'key', 'add', 'one', '--user', name),
      await parlance(server, 'key', 'add', 'other', '--user', name),
    ];
    const [all, others] = [await openAll(server, name, key), await openAll(server, name, other)];
    await change(name, idOf(key));
    for (const { kind, ended } of all)
      expect([kind, await ended]).toEqual([kind, endOf(kind, 'The API key was revoked.')]);
    if (ends === 'one') for (const live of others) await live.alive();
    else for (const { ended } of others) await ended;
  });
});

test('an API key survives a restart of the server, a new password of its owner, and kill -9', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parlance-api-keys-'));
  const place = { root: folder, data: join(folder, 'data') };
  const first = await startProcess(folder, {});
  const key = await parlance(place, 'key', 'add', 'kept', '--user', 'dev');
  await first.kill();
  const second = await startProcess(folder, {});
  await parlance(place, 'user', 'password', 'dev', '--password', 'another-one');
  const answer = await fetch(`${second.http}/v1/server`, { headers: { 'x-api-key': key } });
  expect(await answer.json()).toMatchObject({ principal: { id: 'dev', role: 'developer' } });
  await second.kill();
  rmSync(folder, { recursive: true });
});

test('no API key is in the log, in a response, in observed frames, or in an export', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parlance-key-secrets-'));
  const place = { root: folder, data: join(folder, 'data') };
  const server = await startProcess(folder, { LOG_LEVEL: 'trace', PARLANCE_LOGIN_ATTEMPTS: '1' });
  const key = await parlance(place, 'key', 'add', 'laptop', '--user', 'dev');
  const forged = `${key.slice(0, 21)}${'f'.repeat(43)}`;
  const responses: string[] = [];
  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(server.http + path, init);
    responses.push(await response.text());
    return response.status;
  };
  const create = { method: 'POST', headers: bearer(key), body: JSON.stringify({ type: 'session.create' }) };
  expect(await ask('/v1/sessions/one/commands', create)).toBe(200);
  const frames = await fetch(`${server.http}/v1/sessions/one/frames`, { headers: bearer(key) });
  const socket = await server.connect(`/agentloop?session=one&token=${key}`);
  const reader = (frames.body as ReadableStream<Uint8Array>).getReader();
  const seen = async (word: string) => {
    let text = '';
    while (!text.includes(word)) text += new TextDecoder().decode((await within(reader.read(), word)).value);
    responses.push(text);
  };
  socket.send({ id: 'm', type: 'nonsense', payload: { note: `my key is ${key}` } });
  await socket.next('error');
  await seen('nonsense');
  // After ten invalid keys from one address, further keys are not looked up.
  const statuses: number[] = [];
  for (let tries = 0; tries < 12; tries++) {
    const unknown = `plk_${String(tries).padStart(16, '0')}_${'f'.repeat(43)}`;
    statuses.push(await ask('/v1/server', { headers: { 'x-api-key': unknown } }));
  }
  expect(statuses.slice(8)).toEqual([401, 401, 429, 429]);
  const bad = await server.connect(`/broadcast?token=${forged}`);
  responses.push((await bad.closed).reason);
  await ask(`/v1/nowhere?token=${key}`);
  await ask('/metrics', { headers: bearer(key) });
  await ask('/v1/server', { headers: bearer(key) });
  responses.push(await parlance(place, 'export', '--all'), await parlance(place, 'key', 'list'));
  responses.push(await parlance(place, 'key', 'revoke', idOf(key)), (await socket.closed).reason);
  await server.kill();
  const text = (await server.stderr()) + responses.join('\n');
  expect(text).toContain('socket rejected: invalid token');
  expect(text).toContain(idOf(key));
  for (const secret of [key.slice(21), 'f'.repeat(43)]) expect(text).not.toContain(secret);
  rmSync(folder, { recursive: true });
});
