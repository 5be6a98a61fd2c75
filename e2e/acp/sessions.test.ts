/** Sessions of any dialect in an editor: listed, loaded, continued and closed. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { type ListSessionsResponse, methods } from '@agentclientprotocol/sdk';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { DRIVERS } from '../drivers.ts';
import { DIALECT_CLIENTS } from '../elsewhere/dialect-clients.ts';
import { type ScriptedModel, scriptedModel } from '../scripted-model.ts';
import { followed, postJson, submit } from '../server-process.ts';
import { Editor, PARLANCE, whenWithdrawn } from './editor.ts';

let model: ScriptedModel;
let server: TestServer;
let root: string;
let token: string;

beforeAll(async () => {
  model = scriptedModel(({ messages }) => {
    const last = messages.at(-1);
    const text = JSON.stringify(last?.content ?? '');
    if (last?.role === 'tool') return { say: 'Done.' };
    if (text.includes('touch')) return { call: 'shell', input: { command: ['touch', 'made.txt'] } };
    if (text.includes('echo')) return { call: 'echo', input: { value: 'seen' } };
    return { say: 'The answer.', think: 'Hm.' };
  });
  server = await startTestServer({
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: 'key',
    MODEL: 'fake',
    PARLANCE_API_REQUESTS_PER_MINUTE: '100000',
  });
  root = realpathSync(server.root);
  token = await server.login('dev', 'dev-password');
});
afterAll(async () => {
  await server.stop();
  model.stop();
});

type Options = { readonly token?: string; readonly answer?: typeof whenWithdrawn };

const bridge = ({ token = '', answer }: Options = {}) =>
  new Editor({
    env: { PARLANCE_URL: server.http, PARLANCE_TOKEN: token },
    cwd: root,
    ...(answer && { answer }),
  });

type ListParams = { readonly cwd?: string; readonly cursor?: string };

const list = (editor: Editor, params: ListParams = {}): Promise<ListSessionsResponse> =>
  editor.agent.request(methods.agent.session.list, params);

const headers = () => ({ authorization: `Bearer ${token}` });

/** Creates a session in a dialect as the user of the token, with a tool call; resolves with its id. */
async function begun(dialect: string): Promise<string> {
  const named = `of-${dialect.replace(' ', '-')}`;
  const speak = DIALECT_CLIENTS[dialect];
  if (speak) {
    const speaker = await speak({ server, token, session: named });
    await speaker.say('echo this');
    await speaker.close();
    return speaker.session;
  }
  const where = { http: server.http, headers: headers() };
  const isDone = (events: readonly { type: string }[]) => events.some(({ type }) => type === 'turn.ended');
  if (dialect === 'native' || dialect === 'conversations') {
    const first = dialect === 'native' ? 'echo this' : 'begun';
    const command = { type: 'input.submit', parts: [{ type: 'text', text: first }] };
    await postJson(`${server.http}/v1/sessions/${named}/commands`, command, headers());
    await followed(where, named, isDone);
  }
  const driver = await DRIVERS[dialect]?.(server, named, token);
  driver?.say('echo this');
  await driver?.answer();
  driver?.client.close();
  return named;
}

const DIALECTS = [
  'native',
  ...Object.keys(DRIVERS),
  ...Object.keys(DIALECT_CLIENTS).filter((name) => name !== 'acp'),
];

test.each(DIALECTS)('a session of %s is listed, loaded in order, and continued', async (dialect) => {
  const session = await begun(dialect);
  await using editor = bridge({ token });
  const { sessions } = await list(editor);
  expect(sessions.find(({ sessionId }) => sessionId === session)).toMatchObject({
    cwd: root,
    title: expect.any(String),
    updatedAt: expect.stringMatching(/^\d{4}-.*Z$/),
  });
  await editor.load(session, root);
  const kinds = editor.of(session).map(({ sessionUpdate }) => sessionUpdate);
  const from = kinds.lastIndexOf('user_message_chunk');
  expect(kinds.slice(from).filter((kind) => kind !== 'usage_update')).toEqual([
    'user_message_chunk',
    'tool_call',
    'tool_call_update',
    'tool_call_update',
    'agent_message_chunk',
  ]);
  expect(editor.text(session, 'user_message_chunk')).toEndWith('echo this');
  expect(editor.text(session)).toEndWith('Done.');
  expect(editor.of(session)).toContainEqual(
    expect.objectContaining({ sessionUpdate: 'tool_call_update', status: 'completed' }),
  );
  expect(await editor.prompt(session, 'and here?')).toEqual({ stopReason: 'end_turn' });
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('echo this');
});

test('a client of a higher version is answered with version 1', async () => {
  await using editor = bridge();
  const answer = await editor.agent.request('initialize', { protocolVersion: 7, clientCapabilities: {} });
  expect(answer).toMatchObject({ protocolVersion: 1 });
});

test('session/new returns the modes, and ignores MCP servers of the client', async () => {
  await using editor = bridge();
  const { sessionId, modes } = await editor.agent.request(methods.agent.session.new, {
    cwd: root,
    mcpServers: [{ name: 'files', command: '/nothing/here', args: [], env: [] }],
  });
  expect(modes).toMatchObject({
    currentModeId: 'suggest',
    availableModes: [{ id: 'suggest' }, { id: 'auto-edit' }, { id: 'full-auto' }],
  });
  expect(await editor.prompt(sessionId, 'hello')).toEqual({ stopReason: 'end_turn' });
});

test('a connection that resumes a session receives pending permission requests, and nothing else', async () => {
  await using editor = bridge({ answer: whenWithdrawn });
  const session = await editor.newSession(root);
  const prompted = editor.prompt(session, 'touch it');
  await editor.until(() => editor.permissions.length === 1);
  await using other = bridge();
  await other.resume(session, root);
  expect(await prompted).toEqual({ stopReason: 'end_turn' });
  expect(other.permissions).toHaveLength(1);
  expect(other.text(session, 'user_message_chunk')).toBe('');
  await editor.until(() => editor.permissions[0]?.signal.aborted === true);
});

describe('session/list', () => {
  test('has a cursor to the next page, and every session once', async () => {
    const uma = await server.login('uma', 'uma-password');
    const names = Array.from({ length: 120 }, (_, number) => `page-${number}`);
    for (const name of names) {
      const command = { type: 'session.create', title: name };
      await postJson(`${server.http}/v1/sessions/${name}/commands`, command, {
        authorization: `Bearer ${uma}`,
      });
    }
    await using editor = bridge({ token: uma });
    const found: string[] = [];
    const sizes: number[] = [];
    let cursor: string | null | undefined;
    do {
      const page = await list(editor, cursor ? { cursor } : {});
      sizes.push(page.sessions.length);
      found.push(...page.sessions.map(({ sessionId }) => sessionId));
      cursor = page.nextCursor;
    } while (cursor);
    expect(sizes).toEqual([50, 50, 20]);
    expect(found).toEqual(names.reverse());
  });

  test('finds the sessions of a folder behind many others', async () => {
    const inner = join(root, 'inner');
    mkdirSync(inner);
    await using editor = bridge();
    const session = await editor.newSession(inner);
    for (let number = 0; number < 60; number++) await editor.newSession(root);
    const { sessions, nextCursor } = await list(editor, { cwd: inner });
    expect(sessions.map(({ sessionId }) => sessionId)).toEqual([session]);
    expect(nextCursor).toBeUndefined();
  });

  test('an invalid cursor is refused', async () => {
    await using editor = bridge();
    await expect(list(editor, { cursor: 'nonsense' })).rejects.toMatchObject({ code: -32602 });
  });
});

test('session/delete deletes the session for everybody', async () => {
  await using editor = bridge();
  const session = await editor.newSession(root);
  await editor.prompt(session, 'hello');
  const remove = (sessionId: string) => editor.agent.request(methods.agent.session.delete, { sessionId });
  expect(await remove(session)).toEqual({});
  expect((await list(editor)).sessions.map(({ sessionId }) => sessionId)).not.toContain(session);
  await expect(editor.load(session, root)).rejects.toMatchObject({ code: -32002 });
  // The client takes −32002 for success. The session is of another user.
  const others = await begun('native');
  await remove(others);
  expect(editor.output).toContain('-32002');
  await using dev = bridge({ token });
  await dev.load(others, root);
});

test('mode, model and agent are options of a session', async () => {
  await using editor = bridge();
  const { sessionId, configOptions } = await editor.agent.request(methods.agent.session.new, {
    cwd: root,
    mcpServers: [],
  });
  type Options = NonNullable<typeof configOptions>;
  const chosen = (options: Options | null | undefined) =>
    Object.fromEntries(
      (options ?? []).map((option) => [option.id, 'currentValue' in option && option.currentValue]),
    );
  expect(chosen(configOptions)).toMatchObject({ mode: 'suggest', model: 'fake', agent: 'coder' });
  const set = (configId: string, value: string) =>
    editor.agent.request(methods.agent.session.setConfigOption, { sessionId, configId, value });
  expect(chosen((await set('mode', 'auto-edit')).configOptions)).toMatchObject({
    mode: 'auto-edit',
    model: 'fake',
  });
  expect(chosen((await set('agent', 'reviewer')).configOptions)).toMatchObject({ agent: 'reviewer' });
  for (const [configId, value] of [
    ['model', 'unheard-of'],
    ['agent', 'nobody'],
    ['mode', 'yolo'],
    ['colour', 'red'],
  ] as const)
    await expect(set(configId, value)).rejects.toMatchObject({ code: -32602 });
  const opened = await editor.agent.request(methods.agent.session.resume, {
    sessionId,
    cwd: root,
    mcpServers: [],
  });
  expect(chosen(opened.configOptions)).toMatchObject({ mode: 'auto-edit', model: 'fake', agent: 'reviewer' });
});

test('an editor with a terminal can sign in there, if the server requires a token', async () => {
  const closed = await startTestServer({ PARLANCE_AUTH: 'required' });
  for (const [at, terminal, ids] of [
    [closed, true, ['login']],
    [closed, false, []],
    [server, true, []],
  ] as const) {
    await using editor = new Editor({ env: { PARLANCE_URL: at.http }, cwd: root });
    const { authMethods } = await editor.agent.request(methods.agent.initialize, {
      protocolVersion: 1,
      clientCapabilities: { auth: { terminal } },
    });
    expect(authMethods?.map(({ id }) => id)).toEqual([...ids]);
  }
  const home = join(root, 'signed-in');
  mkdirSync(home);
  const env = { PARLANCE_URL: closed.http, HOME: home, PATH: process.env.PATH ?? '', LOG_LEVEL: 'silent' };
  const signIn = Bun.spawn(['sh', PARLANCE, 'acp', '--login', '--user', 'dev'], {
    cwd: home,
    env,
    stdin: new Blob(['dev-password\n']),
    stdout: 'pipe',
    stderr: 'pipe',
  });
  expect([await signIn.exited, await signIn.stderr.text()]).toEqual([0, '']);
  {
    await using editor = new Editor({ env, cwd: home });
    await editor.initialize();
    expect(await list(editor)).toEqual({ sessions: [] });
  }
  await closed.stop();
});

describe('session/close', () => {
  const close = (editor: Editor, sessionId: string) =>
    editor.agent.request(methods.agent.session.close, { sessionId });

  test('ends the updates of this connection only; the session stays', async () => {
    await using editor = bridge();
    await using other = bridge();
    const session = await editor.newSession(root);
    await other.resume(session, root);
    await close(editor, session);
    const before = editor.of(session).length;
    await submit(server, session, 'said elsewhere');
    await other.until(() => other.text(session).includes('The answer.'));
    // Answered after all earlier updates.
    await list(editor);
    expect(editor.of(session)).toHaveLength(before);
    await editor.load(session, root);
    expect(editor.text(session, 'user_message_chunk')).toBe('said elsewhere');
  });

  test('withdraws a permission request, which can still be answered elsewhere', async () => {
    await using editor = bridge({ answer: whenWithdrawn });
    const session = await editor.newSession(root);
    const prompted = editor.prompt(session, 'touch it');
    await editor.until(() => editor.permissions.length === 1);
    await close(editor, session);
    await editor.until(() => editor.permissions[0]?.signal.aborted === true);
    const command = { type: 'approval.answer', answer: 'once' };
    const { status } = await postJson(`${server.http}/v1/sessions/${session}/commands`, command);
    expect(status).toBe(200);
    expect(await prompted).toEqual({ stopReason: 'end_turn' });
  });

  test('of an unknown session is -32002', async () => {
    await using editor = bridge();
    // The client treats the error as success: an unknown session is closed.
    await close(editor, 'nothing');
    expect(JSON.parse(editor.output)).toMatchObject({ error: { code: -32002 } });
  });
});
