/** Turns in an editor, alone and as a bridge to a running server. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { methods } from '@agentclientprotocol/sdk';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import {
  type ChatRequest,
  type Answer as ModelAnswer,
  type ScriptedModel,
  scriptedModel,
} from '../scripted-model.ts';
import { durableOf, followed, getJson, postJson, submit } from '../server-process.ts';
import { type Answer, choose, Editor, refusal, whenWithdrawn } from './editor.ts';

const PATCH = '*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** End Patch';

function answerTo({ messages }: ChatRequest): ModelAnswer {
  const last = messages.at(-1);
  const text = JSON.stringify(last?.content ?? '');
  if (last?.role === 'tool') return { say: `Result: ${text}` };
  if (text.includes('touch')) return { call: 'shell', input: { command: ['touch', 'made.txt'] } };
  if (text.includes('save')) return { call: 'save_file', input: { path: 'a.txt', content: 'one\n' } };
  if (text.includes('patch')) return { call: 'apply_patch', input: { patch: PATCH } };
  if (text.includes('where')) return { call: 'shell', input: { command: ['pwd'] } };
  if (text.includes('plan'))
    return { call: 'update_plan', input: { steps: [{ step: 'Look', status: 'in_progress' }] } };
  if (text.includes('silence')) return { say: 'Some words ', after: 'silence' };
  if (text === '"fail"') return { status: 400 };
  return { say: `You said ${text}.`, think: 'Hm.' };
}

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'parlance-acp-')));
let model: ScriptedModel;
let server: TestServer;
let settings: Record<string, string>;
let root: string;

beforeAll(async () => {
  model = scriptedModel(answerTo);
  settings = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake' };
  server = await startTestServer(settings);
  root = realpathSync(server.root);
});
afterAll(async () => {
  await server.stop();
  model.stop();
  rmSync(folder, { recursive: true, force: true });
});

const bridge = (answer?: Answer) =>
  new Editor({ env: { PARLANCE_URL: server.http }, cwd: folder, ...(answer && { answer }) });

function alone(): { editor: Editor; cwd: string } {
  const cwd = mkdtempSync(join(folder, 'alone-'));
  const editor = new Editor({ env: { ...settings, PARLANCE_DATA: join(cwd, '.data') }, cwd });
  return { editor, cwd };
}

describe.each(['alone', 'as a bridge'] as const)('%s', (how) => {
  let editor: Editor;
  let cwd: string;
  beforeAll(async () => {
    ({ editor, cwd } = how === 'alone' ? alone() : { editor: bridge(), cwd: root });
    expect(await editor.initialize()).toMatchObject({
      protocolVersion: 1,
      agentInfo: { name: 'parlance' },
      agentCapabilities: {
        loadSession: true,
        sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
      },
      authMethods: [],
    });
  });
  afterAll(async () => {
    const { code, errors } = await editor.end();
    expect([code, errors]).toEqual([0, '']);
    for (const line of editor.output.trimEnd().split('\n'))
      expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
  });

  test('text and thoughts are streamed; the user’s message is not repeated', async () => {
    const session = await editor.newSession(cwd);
    expect(await editor.prompt(session, 'hello')).toEqual({ stopReason: 'end_turn' });
    expect(editor.text(session)).toContain('You said');
    expect(editor.text(session, 'agent_thought_chunk')).toBe('Hm.');
    expect(editor.text(session, 'user_message_chunk')).toBe('');
    expect(editor.of(session)).toContainEqual(
      expect.objectContaining({ sessionUpdate: 'usage_update', used: expect.any(Number) }),
    );
    expect(editor.of(session)).toContainEqual(
      expect.objectContaining({ sessionUpdate: 'session_info_update', title: 'hello' }),
    );
  });

  test('calls, permissions and diffs', async () => {
    const session = await editor.newSession(cwd);
    await editor.prompt(session, 'save');
    await editor.prompt(session, 'patch');
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('two\n');
    const asked = editor.permissions.filter(({ request }) => request.sessionId === session);
    expect(asked.map(({ request }) => request.options.map(({ kind }) => kind))).toEqual([
      ['allow_once', 'allow_always', 'reject_once'],
      ['allow_once', 'allow_always', 'reject_once'],
    ]);
    const updates = editor.of(session);
    expect(updates).toContainEqual(
      expect.objectContaining({
        sessionUpdate: 'tool_call',
        name: 'apply_patch',
        kind: 'edit',
        status: 'pending',
        rawInput: { patch: PATCH },
      }),
    );
    expect(updates).toContainEqual(
      expect.objectContaining({ sessionUpdate: 'tool_call_update', status: 'in_progress' }),
    );
    expect(updates).toContainEqual(
      expect.objectContaining({
        status: 'completed',
        content: expect.arrayContaining([
          { type: 'diff', path: join(cwd, 'a.txt'), oldText: 'one', newText: 'two' },
        ]),
      }),
    );
  });

  test('tools work in the folder of the session', async () => {
    const inner = join(cwd, 'inner');
    mkdirSync(inner, { recursive: true });
    const session = await editor.newSession(inner);
    await editor.prompt(session, 'where');
    expect(editor.text(session)).toContain(inner);
    const { sessions } = await editor.agent.request(methods.agent.session.list, { cwd: inner });
    expect(sessions).toEqual([
      { sessionId: session, cwd: inner, title: 'where', updatedAt: expect.any(String) },
    ]);
  });

  test('the plan', async () => {
    const session = await editor.newSession(cwd);
    await editor.prompt(session, 'plan');
    expect(editor.of(session)).toContainEqual({
      sessionUpdate: 'plan',
      entries: [{ content: 'Look', priority: 'medium', status: 'in_progress' }],
    });
  });

  test('cancel closes the model request, and keeps the text so far', async () => {
    const session = await editor.newSession(cwd);
    const prompted = editor.prompt(session, 'silence');
    await editor.until(() => editor.text(session).includes('words'));
    await editor.cancel(session);
    expect(await prompted).toEqual({ stopReason: 'cancelled' });
    await model.aborted;
    await editor.load(session);
    expect(editor.text(session)).toBe('Some words Some words ');
  });

  test('a failure of the model is an error, and the connection stays open', async () => {
    const session = await editor.newSession(cwd);
    expect(await refusal(editor.prompt(session, 'fail'))).toMatchObject({
      code: -32603,
      message: expect.stringMatching(/\w+ \w+/),
    });
    expect(await editor.prompt(session, 'hello')).toEqual({ stopReason: 'end_turn' });
  });

  test('load shows everything, then answers; resume shows nothing', async () => {
    const session = await editor.newSession(cwd);
    await editor.prompt(session, 'hello');
    const before = editor.updates.length;
    await editor.resume(session);
    expect(editor.updates.length).toBe(before);
    const loaded = await editor.load(session);
    expect(loaded.modes?.availableModes.map(({ id }) => id)).toEqual(['suggest', 'auto-edit', 'full-auto']);
    const shown = editor.updates.slice(before).map(({ update }) => update.sessionUpdate);
    expect(shown.filter((kind) => kind.endsWith('chunk'))).toEqual([
      'user_message_chunk',
      'agent_thought_chunk',
      'agent_message_chunk',
    ]);
  });
});

describe('permissions', () => {
  test('answered elsewhere are withdrawn, and the turn continues', async () => {
    await using editor = bridge(whenWithdrawn);
    await editor.initialize();
    const session = await editor.newSession(root);
    const prompted = editor.prompt(session, 'touch');
    await editor.until(() => editor.permissions.length === 1);
    const { approvals } = await getJson<{ approvals: { session: string; approval: string }[] }>(
      `${server.http}/v1/approvals`,
    );
    const waiting = approvals.find((one) => one.session === session);
    expect(waiting).toBeDefined();
    await postJson(`${server.http}/v1/sessions/${session}/commands`, {
      type: 'approval.answer',
      answer: 'once',
    });
    expect(await prompted).toEqual({ stopReason: 'end_turn' });
    await editor.until(() => editor.permissions[0]?.signal.aborted === true);
    expect(existsSync(join(root, 'made.txt'))).toBeTrue();
  });

  test('go to every connection that has the session open, and to one that loads it; the first answer wins', async () => {
    await using one = bridge(whenWithdrawn);
    await using other = bridge(whenWithdrawn);
    await using third = bridge(() => choose('deny'));
    const session = await one.newSession(root);
    await other.resume(session);
    const prompted = one.prompt(session, 'touch');
    await Promise.all([one, other].map((editor) => editor.until(() => editor.permissions.length === 1)));
    expect(other.text(session, 'user_message_chunk')).toBe('touch');
    await third.load(session);
    expect(await prompted).toEqual({ stopReason: 'end_turn' });
    expect(third.permissions).toHaveLength(1);
    // Each connection is told by itself.
    for (const editor of [one, other])
      await editor.until(() => editor.permissions[0]?.signal.aborted === true);
    expect(one.of(session)).toContainEqual(
      expect.objectContaining({ sessionUpdate: 'tool_call_update', status: 'failed' }),
    );
    const answers = (await durableOf(server, session)).filter(({ type }) => type === 'approval.answered');
    expect(answers).toMatchObject([{ answer: 'deny', dialect: 'acp' }]);
  });

  test('a turn that waits for one can be cancelled by any client that loaded the session', async () => {
    await using one = bridge(whenWithdrawn);
    await using other = bridge(whenWithdrawn);
    const session = await one.newSession(root);
    const prompted = one.prompt(session, 'touch');
    await one.until(() => one.permissions.length === 1);
    await other.load(session);
    await other.until(() => other.permissions.length === 1);
    await other.cancel(session);
    expect(await prompted).toEqual({ stopReason: 'cancelled' });
    await one.until(() => one.permissions[0]?.signal.aborted === true);
  });

  test('that were answered are not sent again when the session is loaded', async () => {
    await using editor = bridge();
    const session = await editor.newSession(root);
    await editor.prompt(session, 'touch');
    await using later = bridge();
    await later.load(session);
    expect(await later.prompt(session, 'hello')).toEqual({ stopReason: 'end_turn' });
    expect(later.permissions).toHaveLength(0);
  });
});

test('all clients of a session share its mode', async () => {
  await using editor = bridge();
  const session = await editor.newSession(root);
  await editor.agent.request(methods.agent.session.setMode, { sessionId: session, modeId: 'auto-edit' });
  await editor.prompt(session, 'save');
  expect(editor.permissions).toHaveLength(0);
  expect((await editor.resume(session)).modes?.currentModeId).toBe('auto-edit');
  expect(
    await refusal(
      editor.agent.request(methods.agent.session.setMode, { sessionId: session, modeId: 'yolo' }),
    ),
  ).toMatchObject({ code: -32602 });
});

test('fifty concurrent prompts are answered, each in its own session', async () => {
  await using editor = bridge();
  const sessions = await Promise.all(Array.from({ length: 50 }, () => editor.newSession(root)));
  const stops = await Promise.all(
    sessions.map((session, index) => editor.prompt(session, `number ${index} of many`)),
  );
  expect(stops.every(({ stopReason }) => stopReason === 'end_turn')).toBeTrue();
  for (const [index, session] of sessions.entries())
    expect(editor.text(session)).toBe(`You said "number ${index} of many".`);
});

test('a session continues in other dialects and back', async () => {
  await using editor = bridge();
  const session = await editor.newSession(root);
  await editor.prompt(session, 'first');
  await submit(server, session, 'second');
  await followed(server, session, (so) => so.filter(({ type }) => type === 'turn.ended').length === 2);
  await editor.until(() => editor.text(session).includes('second'));
  expect(editor.text(session, 'user_message_chunk')).toBe('second');
  await editor.prompt(session, 'third');
  const said = JSON.stringify(model.requests.at(-1)?.messages);
  for (const word of ['first', 'second', 'third']) expect(said).toContain(word);
});
