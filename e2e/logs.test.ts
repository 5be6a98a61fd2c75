/** The log of a real server, searched by ids. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scriptedModel } from './scripted-model.ts';
import { startProcess } from './server-process.ts';

type Line = Record<string, unknown> & { msg: string };

const folder = mkdtempSync(join(tmpdir(), 'parlance-logs-'));
const answered: Record<string, string | null> = {};
let lines: Line[] = [];

beforeAll(async () => {
  const model = scriptedModel(() => ({ status: 401 }));
  const settings = { LOG_LEVEL: 'debug', OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake' };
  const server = await startProcess(folder, settings);
  const ask = async (name: string, path: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(server.http + path, { headers });
    answered[name] = answer.headers.get('x-request-id');
    await answer.text();
  };
  await ask('own', '/health?token=hidden', { 'x-request-id': 'edge-4711' });
  await ask('made', '/v1/sessions/nowhere');
  await ask('insane', '/health', { 'x-request-id': 'a b\u00a0{"level":60}' });
  await ask('foreign', '/health', { origin: 'http://evil.example' });
  const chat = await server.connect('/broadcast?session=talk');
  chat.send({ type: 'chat', message: 'Hi', session_id: 'talk' });
  await chat.next('error');
  chat.send({ type: 'chat', message: '' });
  await chat.next('error');
  chat.close();
  await server.terminate();
  lines = (await server.stderr())
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line);
  model.stop();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const requests = () => lines.filter(({ msg }) => msg === 'request');
const byRequest = (name: string) => lines.filter(({ request }) => request === answered[name]);

test('a request has a line with method, path without query, status and duration', () => {
  const [line] = requests().filter(({ request }) => request === 'edge-4711');
  expect(line).toMatchObject({ method: 'GET', path: '/health', status: 200, ms: expect.any(Number) });
  expect(JSON.stringify(lines)).not.toContain('hidden');
});

test('a valid id of the caller is used, and the id is in the response', () => {
  expect(answered.own).toBe('edge-4711');
  expect(answered.made).toMatch(/^[0-9a-f-]{36}$/);
  expect(answered.insane).toMatch(/^[0-9a-f-]{36}$/);
  expect(new Set(requests().map(({ request }) => request)).size).toBe(requests().length);
});

test('a refused request is logged with its id', () => {
  expect(byRequest('made')).toMatchObject([
    { code: 'not_found', msg: 'message refused' },
    { status: 404, path: '/v1/sessions/nowhere' },
  ]);
  expect(byRequest('foreign')).toMatchObject([{ status: 403 }]);
});

test('a socket’s connection id leads from its request to its frames and turns', () => {
  const opened = lines.find(({ msg }) => msg === 'socket opened');
  expect(requests().find(({ request }) => request === opened?.request)).toMatchObject({
    path: '/broadcast',
    status: 101,
  });
  const connection = opened?.connection;
  expect(connection).toBeString();
  expect(lines.find(({ msg }) => msg === 'turn failed')).toMatchObject({
    connection,
    session: 'talk',
    turn: expect.any(String),
    code: 'provider_rejected',
  });
  expect(lines.findLast(({ msg }) => msg === 'message refused')).toMatchObject({
    connection,
    session: 'talk',
    code: 'empty',
  });
});
