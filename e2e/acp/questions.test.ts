/** Questions of the agent as forms of the editor. Editors without forms: `e2e/questions.test.ts`. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CreateElicitationResponse } from '@agentclientprotocol/sdk';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { type ScriptedModel, scriptedModel } from '../scripted-model.ts';
import { getJson, postJson, startProcess } from '../server-process.ts';
import { Editor, type Fill } from './editor.ts';

const OPTIONS = [{ label: 'SQLite', description: 'One file' }, { label: 'PostgreSQL' }];
const QUESTION = { header: 'Database', question: 'Which database?', options: OPTIONS, freeText: false };

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'parlance-acp-forms-')));
let model: ScriptedModel;
let server: TestServer;

beforeAll(async () => {
  model = scriptedModel(({ messages }) => {
    const last = messages.at(-1);
    return last?.role === 'tool'
      ? { say: `Result: ${JSON.stringify(last.content)}` }
      : { call: 'ask_user', input: { questions: [QUESTION] } };
  });
  server = await startTestServer(model.settings);
});
afterAll(async () => {
  await server.stop();
  model.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function asked(fill: Fill | undefined, http = server.http) {
  const editor = new Editor({ env: { PARLANCE_URL: http }, cwd: folder, ...(fill && { fill }) });
  await editor.initialize();
  return editor;
}

const accept = (database: string): CreateElicitationResponse => ({
  action: 'accept',
  content: { '1': database },
});
const never: Fill = (_, signal) =>
  new Promise((resolve) =>
    signal.addEventListener('abort', () => resolve({ action: 'cancel' }), { once: true }),
  );
const root = () => realpathSync(server.root);

test('a form is answered within the prompt, and the question is not repeated as text', async () => {
  await using editor = await asked(() => accept('PostgreSQL'));
  const session = await editor.newSession(root());
  expect(await editor.prompt(session, 'ask')).toEqual({ stopReason: 'end_turn' });
  expect(editor.forms.map(({ form }) => form)).toMatchObject([
    {
      sessionId: session,
      toolCallId: expect.any(String),
      mode: 'form',
      message: 'Which database?',
      requestedSchema: {
        type: 'object',
        properties: { '1': { type: 'string', enum: ['SQLite', 'PostgreSQL'] } },
        required: ['1'],
      },
    },
  ]);
  await editor.until(() => editor.text(session) !== '');
  expect(editor.text(session)).toMatch(/^Result:.*PostgreSQL/s);
  // A form that was answered is no longer shown, but the question is part of the history.
  await using later = await asked(() => accept('SQLite'));
  await later.load(session, root());
  await later.until(() => later.text(session).includes('Which database?'));
  expect(later.forms).toEqual([]);
});

test('to decline gives no answer', async () => {
  await using editor = await asked(() => ({ action: 'decline' }));
  const session = await editor.newSession(root());
  expect(await editor.prompt(session, 'ask')).toEqual({ stopReason: 'end_turn' });
  await editor.until(() => editor.text(session).startsWith('Result:'));
  expect(editor.text(session)).not.toContain('PostgreSQL');
});

describe('the next prompt answers', () => {
  const fails: Fill = () => {
    throw new Error('no window');
  };
  test.each([
    ['a form that was closed', () => ({ action: 'cancel' })],
    ['a form that failed', fails],
    ['a form without a valid answer', () => accept('MongoDB')],
  ] satisfies [string, Fill][])('%s', async (_, fill) => {
    await using editor = await asked(fill);
    const session = await editor.newSession(root());
    expect(await editor.prompt(session, 'ask')).toEqual({ stopReason: 'end_turn' });
    await editor.until(() => editor.text(session).includes('1. SQLite'));
    expect(await editor.prompt(session, '2')).toEqual({ stopReason: 'end_turn' });
    await editor.until(() => /Result:.*PostgreSQL/s.test(editor.text(session)));
    expect(editor.forms).toHaveLength(1);
  });
});

test('a form is withdrawn when another client has answered, and the prompt goes on', async () => {
  await using editor = await asked(never);
  const session = await editor.newSession(root());
  const prompted = editor.prompt(session, 'ask');
  await editor.until(() => editor.forms.length > 0);
  const { questions } = await getJson<{ questions: { id: string; session: string }[] }>(
    `${server.http}/v1/questions`,
  );
  const id = questions.find((one) => one.session === session)?.id;
  await postJson(`${server.http}/v1/questions/${id}`, { answers: { '1': ['SQLite'] } });
  expect(await prompted).toEqual({ stopReason: 'end_turn' });
  await editor.until(() => editor.forms[0]?.signal.aborted === true);
});

test('a cancelled turn withdraws its form', async () => {
  await using editor = await asked(never);
  const session = await editor.newSession(root());
  const prompted = editor.prompt(session, 'ask');
  await editor.until(() => editor.forms.length > 0);
  await editor.cancel(session);
  expect(await prompted).toEqual({ stopReason: 'cancelled' });
  await editor.until(() => editor.forms[0]?.signal.aborted === true);
});

test('a question that waits is a form for whoever opens the session, and a message without forms', async () => {
  await using first = await asked(undefined);
  const session = await first.newSession(root());
  expect(await first.prompt(session, 'ask')).toEqual({ stopReason: 'end_turn' });
  await first.until(() => first.text(session).includes('1. SQLite'));
  expect(first.forms).toEqual([]);
  await using second = await asked(() => accept('PostgreSQL'));
  await second.load(session, root());
  await second.until(() => second.text(session).includes('Result:'));
  expect(second.forms).toHaveLength(1);
  await first.until(() => first.text(session).includes('Result:'));
});

test('after a restart of the server, the same editor is asked once and its prompt is answered', async () => {
  const data = mkdtempSync(join(folder, 'killed-'));
  const before = await startProcess(data, model.settings);
  let answer: (response: CreateElicitationResponse) => void = () => undefined;
  await using editor = await asked(() => new Promise((resolve) => (answer = resolve)), before.http);
  const session = await editor.newSession(data);
  const prompted = editor.prompt(session, 'ask');
  await editor.until(() => editor.forms.length > 0);
  await before.kill();
  await using after = await startProcess(data, {
    ...model.settings,
    PORT: new URL(before.http).port,
  });
  await after.connect('/acp');
  answer(accept('PostgreSQL'));
  expect(await prompted).toEqual({ stopReason: 'end_turn' });
  await editor.until(() => editor.text(session).includes('PostgreSQL'));
  expect(editor.forms).toHaveLength(1);
});

test('the answer to the handshake names the connection', async () => {
  const response = await fetch(`${server.http}/acp`, {
    headers: {
      connection: 'upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'AQIDBAUGBwgJCgsMDQ4PEA==',
    },
  }).catch(() => null);
  expect(response?.status).toBe(101);
  expect(response?.headers.get('acp-connection-id')).toMatch(/^[\da-f-]{36}$/);
});
