import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type DurableEvent, parseDurableEvent, SessionHeader } from '@parlance/protocol';
import { CALLER, createHarness, SESSION } from '../../testing/harness.ts';
import { QUIET } from '../../testing/pusher.ts';
import { startTestServer, type TestServer } from '../../testing/server.ts';
import { exportAnswer } from './export.ts';

let server: TestServer;
const tokens = new Map<string, string>();
beforeAll(async () => {
  server = await startTestServer();
  for (const name of ['ada', 'dev', 'uma']) tokens.set(name, await server.login(name, `${name}-password`));
});
afterAll(() => server.stop());

const get = (name: string, path: string): Promise<Response> =>
  fetch(server.http + path, { headers: { authorization: `Bearer ${tokens.get(name)}` } });

async function command(name: string, session: string, body: object): Promise<void> {
  const response = await fetch(`${server.http}/v1/sessions/${encodeURIComponent(session)}/commands`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tokens.get(name)}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
}

async function exported(name: string, session: string): Promise<[SessionHeader, DurableEvent[]]> {
  const response = await get(name, `/v1/sessions/${encodeURIComponent(session)}/export`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/x-ndjson');
  const text = await response.text();
  expect(text).toEndWith('\n');
  const [header, ...events] = text.trimEnd().split('\n');
  return [
    SessionHeader.parse(JSON.parse(header ?? '')),
    events.map((line) => parseDurableEvent(JSON.parse(line))),
  ];
}

test('a session of many pages is exported completely: a header with the number of events, then each event', async () => {
  await command('dev', 'long', { type: 'session.create' });
  await Promise.all(
    Array.from({ length: 450 }, (_, index) =>
      command('dev', 'long', { type: 'session.rename', title: `title ${index}` }),
    ),
  );
  const [header, events] = await exported('dev', 'long');
  expect(header.session).toEqual({ owner: 'dev', id: 'long' } as SessionHeader['session']);
  expect(header.events).toBe(451);
  expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: 451 }, (_, index) => index + 1));
});

test('the file is named after the session, whatever characters its name has', async () => {
  await command('dev', `a "b" 'c' ü`, { type: 'session.create' });
  const response = await get('dev', `/v1/sessions/${encodeURIComponent(`a "b" 'c' ü`)}/export`);
  expect(response.headers.get('content-disposition')).toBe(
    `attachment; filename*=UTF-8''a%20%22b%22%20%27c%27%20%C3%BC.jsonl`,
  );
  await response.text();
});

test('a session of another user is not found, except by an admin; a valid token is required', async () => {
  await command('dev', 'private', { type: 'session.create' });
  const refused = await get('uma', '/v1/sessions/private/export');
  expect([refused.status, await refused.json()]).toEqual([
    404,
    {
      error: { code: 'not_found', message: 'There is no such session.' },
      detail: 'There is no such session.',
    },
  ]);
  expect((await get('nobody', '/v1/sessions/private/export')).status).toBe(401);
  const [header] = await exported('ada', 'private');
  expect(header.session.owner as string).toBe('dev');
});

test('a session erased before its first page is read is reported as gone', async () => {
  const { engine } = await createHarness([]);
  await engine.send(SESSION, { type: 'session.create' }, CALLER);
  const record = await engine.record(SESSION);
  if (!record) throw new Error('the session was not created');
  await engine.erase(SESSION, CALLER);
  await expect(exportAnswer({ engine, log: QUIET }, record, 'jsonl')).rejects.toMatchObject({
    code: 'not_found',
  });
});

test('the export of a session that is erased meanwhile breaks off, and is logged', async () => {
  const { engine } = await createHarness([]);
  await engine.send(SESSION, { type: 'session.create' }, CALLER);
  for (let index = 0; index < 450; index++)
    await engine.send(SESSION, { type: 'session.rename', title: `Title ${index}` }, CALLER);
  const record = await engine.record(SESSION);
  if (!record) throw new Error('the session was not created');
  const logged: string[] = [];
  const log = { ...QUIET, warn: (_: object, message: string) => void logged.push(message) };
  const answer = await exportAnswer({ engine, log }, record, 'jsonl');
  await engine.erase(SESSION, CALLER);
  expect(
    await answer.text().then(
      () => 'whole',
      () => 'broken off',
    ),
  ).toBe('broken off');
  expect(logged).toEqual(['export interrupted']);
});
