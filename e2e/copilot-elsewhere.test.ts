/** A task of the copilot, seen from the other dialects: what the user wrote and the answer, but not the page. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startTestServer, type TestServer } from '../packages/server/src/testing/server.ts';
import { Editor } from './acp/editor.ts';
import { DRIVERS, type Driver } from './drivers.ts';
import { DIALECT_CLIENTS } from './elsewhere/dialect-clients.ts';

const QUERY = 'click the Submit button';
const SOCKETS = ['broadcast', 'agentloop', 'conversations', 'extension'];
/** On the page only. */
const SECRET = 'swordfish';
const PAGE = `<html><body><h1>Contact ${SECRET}</h1><button id="4">Submit</button></body></html>`;
const DONE = `<html><body><h1>Thank you, ${SECRET}</h1></body></html>`;

let server: TestServer;
let token: string;
let session: string;
let answer: string;
const watching = new Map<string, { readonly driver: Driver; readonly answer: Promise<string> }>();

async function interact(request: object) {
  const response = await fetch(`${server.http}/api/agent/interact`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query: QUERY, url: 'https://shop.example/contact', ...request }),
  });
  return ((await response.json()) as { data: Record<string, string> }).data;
}

async function read(path: string): Promise<string> {
  const response = await fetch(server.http + path, { headers: { authorization: `Bearer ${token}` } });
  expect(response.status).toBe(200);
  return response.text();
}

beforeAll(async () => {
  server = await startTestServer();
  token = await server.login('dev', 'dev-password');
  session = crypto.randomUUID();
  // Sessions can be attached to only if they exist.
  await fetch(`${server.http}/api/session/init`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ sessionId: session }),
  });
  for (const dialect of SOCKETS) {
    const driver = await DRIVERS[dialect]?.(server, session, token);
    if (driver) watching.set(dialect, { driver, answer: driver.answer() });
  }
  const first = await interact({ dom: PAGE, sessionId: session });
  expect(first.action).toBe('click(4)');
  const last = await interact({
    dom: DONE,
    sessionId: session,
    taskId: first.taskId,
    lastActionStatus: 'success',
  });
  expect(last.action).toBe('finish()');
  answer = last.thought ?? '';
  expect(answer).not.toBe('');
});
afterAll(() => server?.stop());

describe('on a socket of', () => {
  test.each(SOCKETS)('%s there is the answer, and nothing of the page', async (dialect) => {
    const { driver, answer: shown } = watching.get(dialect) ?? {};
    expect(await shown).toBe(answer);
    const sent = JSON.stringify(driver?.client.frames);
    if (dialect !== 'conversations' && dialect !== 'extension') expect(sent).toContain(`"${QUERY}"`);
    expect(sent).not.toContain(SECRET);
    expect(sent).not.toContain('PAGE CONTENT');
  });
});

describe('over HTTP', () => {
  test.each([
    '/v1/conversations/:id/messages',
    '/v1/conversations/:id',
    '/api/session/:id/messages',
    '/v1/sessions/:id/export?format=markdown',
    '/v1/sessions/:id/export?format=html',
  ])('%s', async (path) => {
    const text = await read(path.replace(':id', session));
    expect(text).toContain(QUERY);
    expect(text).toContain(answer.replaceAll('"', '&quot;').slice(0, 12));
    expect(text).not.toContain(SECRET);
  });
});

describe('in the history of', () => {
  test.each(['a2a', 'agui', 'aisdk', 'mcp 2026', 'openai conversation'])('%s', async (dialect) => {
    const client = await DIALECT_CLIENTS[dialect]?.({ server, token, session });
    try {
      const history = (await client?.history?.()) ?? [];
      expect(history[0]).toBe(QUERY);
      expect(history.at(-1)).toBe(answer);
      expect(JSON.stringify(history)).not.toContain(SECRET);
    } finally {
      await client?.close();
    }
  });

  test('acp', async () => {
    await using editor = new Editor({
      env: { PARLANCE_URL: server.http, PARLANCE_TOKEN: token },
      cwd: server.root,
    });
    await editor.load(session, server.root);
    const updates = editor.of(session);
    const messages = updates.filter(({ sessionUpdate }) => sessionUpdate.endsWith('_message_chunk'));
    expect(messages.map((update) => 'content' in update && update.content)).toEqual(
      [QUERY, answer].map((text) => ({ type: 'text', text })),
    );
    expect(JSON.stringify(updates)).not.toContain(SECRET);
  });
});
