/** Prompts: their content, their stop reasons, and permissions. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ContentBlock, methods } from '@agentclientprotocol/sdk';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import {
  type ChatRequest,
  type Answer as ModelAnswer,
  type ScriptedModel,
  scriptedModel,
} from '../scripted-model.ts';
import { durableOf, followed } from '../server-process.ts';
import { type Answer, choose, Editor, refusal } from './editor.ts';

const MAX_STEPS = 3;

const touch = (file: string): ModelAnswer => ({ call: 'shell', input: { command: ['touch', file] } });

/** The answer depends on the last user message, and the number of model requests since. */
function answerTo({ messages }: ChatRequest): ModelAnswer {
  const at = messages.findLastIndex(({ role }) => role === 'user');
  const asked = JSON.stringify(messages[at]?.content ?? '');
  const steps = messages.length - 1 - at;
  if (asked.includes('endless')) return { call: 'echo', input: { value: `${steps}` } };
  if (steps === 0 && asked.includes('touch')) return touch(`${/touch (\w+)/.exec(asked)?.[1]}.txt`);
  if (asked.includes('long')) return { say: 'Half an ans', finish: 'length' };
  if (asked.includes('forbidden')) return { say: 'I will not', finish: 'content_filter' };
  if (asked.includes('breaks off') && !isCut) {
    isCut = true;
    return { say: 'Void words ', after: 'cut' };
  }
  if (asked.includes('silence')) return { say: 'Some words ', after: 'silence' };
  return { say: 'Seen.' };
}

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'parlance-acp-prompts-')));
let isCut = false;
let model: ScriptedModel;
let server: TestServer;
let root: string;

beforeAll(async () => {
  model = scriptedModel(answerTo);
  const settings = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake' };
  server = await startTestServer({ ...settings, MAX_ITERATIONS: `${MAX_STEPS}` });
  root = realpathSync(server.root);
});
afterAll(async () => {
  await server.stop();
  model.stop();
  rmSync(folder, { recursive: true, force: true });
});

const bridge = (answer?: Answer) =>
  new Editor({ env: { PARLANCE_URL: server.http }, cwd: folder, ...(answer && { answer }) });

const send = (editor: Editor, sessionId: string, prompt: ContentBlock[]) =>
  editor.agent.request(methods.agent.session.prompt, { sessionId, prompt });

const lastPrompt = () => model.requests.at(-1)?.messages.findLast(({ role }) => role === 'user')?.content;

describe('the stop reason is', () => {
  test.each([
    ['max_tokens', 'a long story', 'Half an ans'],
    ['refusal', 'a forbidden story', 'I will not'],
    ['end_turn', 'any story', 'Seen.'],
  ] as const)('%s for %p', async (stopReason, words, said) => {
    await using editor = bridge();
    const session = await editor.newSession(root);
    expect(await editor.prompt(session, words)).toEqual({ stopReason });
    expect(editor.text(session)).toBe(said);
  });

  test('max_turn_requests after too many steps, and the session continues', async () => {
    await using editor = bridge();
    const session = await editor.newSession(root);
    const before = model.requests.length;
    expect(await editor.prompt(session, 'an endless story')).toEqual({ stopReason: 'max_turn_requests' });
    expect(model.requests).toHaveLength(before + MAX_STEPS);
    expect(editor.text(session)).toEndWith('Send a message to continue.');
    expect(await editor.prompt(session, 'any story')).toEqual({ stopReason: 'end_turn' });
  });

  test('cancelled if the editor cancels the request itself', async () => {
    await using editor = bridge();
    const session = await editor.newSession(root);
    const stop = new AbortController();
    const prompted = editor.agent.request(
      methods.agent.session.prompt,
      { sessionId: session, prompt: [{ type: 'text', text: 'silence' }] },
      { cancellationSignal: stop.signal },
    );
    await editor.until(() => editor.text(session).includes('words'));
    stop.abort();
    expect(await prompted).toEqual({ stopReason: 'cancelled' });
  });
});

describe('a prompt may have', () => {
  const IMAGE = { type: 'image', mimeType: 'image/png', data: 'aGk=' } as const;

  test('images, links and embedded resources, each sent to the model with name and URI', async () => {
    await using editor = bridge();
    const session = await editor.newSession(root);
    await send(editor, session, [
      { type: 'text', text: 'look at' },
      IMAGE,
      { type: 'resource_link', name: 'main.ts', uri: 'file:///src/main.ts' },
      { type: 'resource', resource: { uri: 'file:///src/util.ts', text: 'export const one = 1;' } },
      { type: 'resource', resource: { uri: 'file:///a.gif', mimeType: 'image/gif', blob: 'R0lG' } },
    ]);
    const prompt = JSON.stringify(lastPrompt());
    expect(prompt).toContain('look at');
    expect(prompt).toContain('data:image/png;base64,aGk=');
    expect(prompt).toContain('[main.ts](file:///src/main.ts)');
    expect(prompt).toContain('[util.ts](file:///src/util.ts)');
    expect(prompt).toContain('export const one = 1;');
    expect(prompt).toContain('data:image/gif;base64,R0lG');

    await using other = bridge();
    await other.load(session, root);
    const shown = other
      .of(session)
      .flatMap((update) => (update.sessionUpdate === 'user_message_chunk' ? [update.content] : []));
    expect(shown.map(({ type }) => type)).toEqual(['text', 'image', 'text', 'text', 'image']);
    expect(shown[1]).toEqual(IMAGE);
  });

  test('only a link, but not only blocks without text', async () => {
    await using editor = bridge();
    const session = await editor.newSession(root);
    const link = { type: 'resource_link', name: 'a', uri: 'file:///a' } as const;
    expect(await send(editor, session, [link])).toEqual({ stopReason: 'end_turn' });
    for (const blocks of [
      [],
      [{ type: 'text', text: ' ' } as const],
      [{ type: 'audio', mimeType: 'audio/wav', data: 'aGk=' } as const],
      [{ ...IMAGE, data: 'not base64!' }],
      [{ type: 'poem' } as never],
    ])
      expect(await refusal(send(editor, session, blocks))).toMatchObject({ code: -32602 });
    const accepted = (await durableOf(server, session)).filter(({ type }) => type === 'input.accepted');
    expect(accepted).toHaveLength(1);
  });
});

test('an interrupted answer that is retried is a new message, and load shows only that one', async () => {
  isCut = false;
  await using editor = bridge();
  const session = await editor.newSession(root);
  expect(await editor.prompt(session, 'it breaks off')).toEqual({ stopReason: 'end_turn' });
  const chunks = editor
    .of(session)
    .flatMap((update) => (update.sessionUpdate === 'agent_message_chunk' ? [update] : []));
  const ids = [...new Set(chunks.map(({ messageId }) => messageId))];
  expect(ids).toHaveLength(2);
  const textOf = (id: unknown) =>
    chunks
      .filter(({ messageId }) => messageId === id)
      .map(({ content }) => (content.type === 'text' ? content.text : ''))
      .join('');
  expect(ids.map(textOf)).toEqual(['Void words ', 'Seen.']);
  expect(editor.text(session, 'agent_thought_chunk')).toContain('the partial answer is discarded');
  await using other = bridge();
  await other.load(session, root);
  expect(other.text(session)).toBe('Seen.');
});

describe('a prompt during a turn', () => {
  const both = async (editor: Editor, session: string, cancellationSignal: AbortSignal) => {
    const prompt = [{ type: 'text', text: 'silence' } as const];
    const first = editor.agent.request(
      methods.agent.session.prompt,
      { sessionId: session, prompt },
      { cancellationSignal },
    );
    await editor.until(() => editor.text(session).includes('words'));
    const second = editor.prompt(session, 'any story');
    await followed(server, session, (events) => events.filter(isInput).length === 2);
    return { first, second };
  };
  const isInput = ({ type }: { readonly type: string }) => type === 'input.accepted';

  test('waits for its end', async () => {
    await using editor = bridge();
    const session = await editor.newSession(root);
    const stop = new AbortController();
    const { first, second } = await both(editor, session, stop.signal);
    expect(lastPrompt()).toBe('silence');
    stop.abort();
    expect(await first).toEqual({ stopReason: 'cancelled' });
    expect(await second).toEqual({ stopReason: 'end_turn' });
    expect(editor.text(session)).toBe('Some words Seen.');
  });

  test('is cancelled with it by session/cancel', async () => {
    await using editor = bridge();
    const session = await editor.newSession(root);
    const { first, second } = await both(editor, session, new AbortController().signal);
    await editor.cancel(session);
    expect(await Promise.all([first, second])).toEqual([
      { stopReason: 'cancelled' },
      { stopReason: 'cancelled' },
    ]);
  });
});

describe('a permission that is', () => {
  test('allow_always applies to later calls of the same kind', async () => {
    await using editor = bridge(({ request }) => {
      const always = request.options.find(({ kind }) => kind === 'allow_always');
      return choose(always?.optionId ?? 'none');
    });
    const session = await editor.newSession(root);
    await editor.prompt(session, 'touch always');
    await editor.prompt(session, 'touch always');
    expect(editor.permissions).toHaveLength(1);
    const answered = (await durableOf(server, session)).filter(({ type }) => type === 'approval.answered');
    expect(answered).toMatchObject([{ answer: 'always', dialect: 'acp' }]);
  });

  test.each([
    ['cancelled', () => ({ outcome: { outcome: 'cancelled' as const } })],
    ['reject_once', () => choose('deny')],
    ['no option of ours', () => choose('surely')],
  ])('%s denies the call, and the model continues', async (how, answer) => {
    await using editor = bridge(answer);
    const session = await editor.newSession(root);
    const file = `denied${how.replaceAll(' ', '')}`;
    expect(await editor.prompt(session, `touch ${file}`)).toEqual({ stopReason: 'end_turn' });
    expect(editor.text(session)).toBe('Seen.');
    expect(existsSync(join(root, `${file}.txt`))).toBeFalse();
    expect(editor.of(session)).toContainEqual(
      expect.objectContaining({ sessionUpdate: 'tool_call_update', status: 'failed' }),
    );
    const answered = (await durableOf(server, session)).filter(({ type }) => type === 'approval.answered');
    expect(answered).toMatchObject([{ answer: 'deny' }]);
  });
});
