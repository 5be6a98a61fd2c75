/** Chats of the official client: texts, reasoning, files and the history. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { type Answer, type ChatRequest, type ScriptedModel, scriptedModel } from '../scripted-model.ts';
import { durableOf } from '../server-process.ts';
import {
  chatWith,
  chunksOf,
  historyOf,
  idOf,
  post,
  serverCalls,
  shown,
  textOf,
  textsOf,
  typesOf,
  userMessage,
} from './client.ts';

let count = 0;

/** Repeats the last user message, or makes a call or fails if the message says so. */
function answerTo({ messages }: ChatRequest): Answer {
  const last = messages.at(-1);
  const text = typeof last?.content === 'string' ? last.content : JSON.stringify(last?.content);
  if (last?.role === 'tool') return { say: `Found ${text}.` };
  if (text.startsWith('echo')) return { call: 'echo', input: { value: 'seen' } };
  if (text.startsWith('fail')) return { status: 400 };
  return { say: `You said ${text}.`, ...(text.startsWith('think') && { think: 'Hm, yes.' }) };
}

let model: ScriptedModel;
let server: TestServer;

beforeAll(async () => {
  model = scriptedModel(answerTo);
  server = await startTestServer({
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: 'key',
    MODEL: 'fake',
    PARLANCE_API_REQUESTS_PER_MINUTE: '100000',
  });
});
afterAll(async () => {
  await server.stop();
  model.stop();
});

const newId = () => `chat ${++count}`;

const promptOf = (): string => JSON.stringify(model.requests.at(-1)?.messages.slice(1));

const turnsOf = async (session: string): Promise<number> =>
  (await durableOf(server, encodeURIComponent(session))).filter(({ type }) => type === 'turn.started').length;

describe('a message', () => {
  test('is answered with a stream of chunks in order', async () => {
    const response = await post(server.http, { id: newId(), messages: [userMessage('think twice')] });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(response.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1');
    expect(response.headers.get('x-accel-buffering')).toBe('no');
    const [raw, parsed] = response.body?.tee() ?? [];
    const chunks = await chunksOf(new Response(parsed));
    const types = typesOf(chunks).filter((type, at, all) => type !== all[at - 1]);
    expect(types).toEqual([
      'start',
      'start-step',
      'reasoning-start',
      'reasoning-delta',
      'reasoning-end',
      'text-start',
      'text-delta',
      'text-end',
      'finish-step',
      'finish',
    ]);
    expect(chunks.at(-1)).toEqual({ type: 'finish', finishReason: 'stop' });
    const lines = (await new Response(raw).text()).split('\n\n').filter((line) => line !== '');
    expect(lines.every((line) => line.startsWith('data: '))).toBeTrue();
    expect(lines.at(-1)).toBe('data: [DONE]');
  });

  test('and its answer are the same in the chat and in its history', async () => {
    const chat = chatWith({ server, id: newId() });
    await chat.sendMessage({ text: 'think', metadata: { from: 'page' } });
    expect(chat.status).toBe('ready');
    await chat.sendMessage({ text: 'again' });
    expect(textsOf(chat)).toEqual([
      'user: think',
      'assistant: You said think.',
      'user: again',
      'assistant: You said again.',
    ]);
    expect(chat.messages[1]?.parts).toMatchObject([
      { type: 'step-start' },
      { type: 'reasoning', text: 'Hm, yes.', state: 'done' },
      { type: 'text', state: 'done' },
    ]);
    const history = await historyOf(server.http, chat.id);
    expect(history.map(({ id }) => id)).toEqual(chat.messages.map(({ id }) => id));
    expect(history.map(textOf)).toEqual(chat.messages.map(textOf));
    expect(history[0]?.metadata).toEqual({ from: 'page' });
    expect(await turnsOf(chat.id)).toBe(2);
  });

  test('has the title of the session in its history, which the model writes once', async () => {
    const id = newId();
    await chunksOf(await post(server.http, { id, messages: [userMessage('A title')] }));
    const response = await fetch(`${server.http}/api/chat/${encodeURIComponent(id)}`);
    expect(await response.json()).toMatchObject({ id, title: 'A title' });
    expect(JSON.parse(promptOf())).toEqual([{ role: 'user', content: 'A title' }]);
  });

  test('posted twice is one turn, and the second request receives the same stream', async () => {
    const body = { id: newId(), messages: [userMessage('once')] };
    const [one, two] = await Promise.all([post(server.http, body), post(server.http, body)]);
    const first = await chunksOf(one);
    const second = await chunksOf(two);
    const third = await chunksOf(await post(server.http, body));
    for (const chunks of [second, third]) {
      expect(idOf(chunks)).toBe(idOf(first) ?? 'none');
      expect(chunks.flatMap((chunk) => ('delta' in chunk ? chunk.delta : '')).join('')).toBe(
        'You said once.',
      );
    }
    expect(await turnsOf(body.id)).toBe(1);
  });

  test('may have files as data URLs, which the history returns unchanged', async () => {
    const chat = chatWith({ server, id: newId() });
    const image = {
      type: 'file' as const,
      mediaType: 'image/png',
      url: 'data:image/png;base64,iVBORw0KGgo=',
    };
    const note = {
      type: 'file' as const,
      mediaType: 'text/plain',
      filename: 'a.txt',
      url: 'data:,some%20text',
    };
    await chat.sendMessage({ text: 'look', files: [image, note] });
    expect(chat.status).toBe('ready');
    expect(promptOf()).toContain('iVBORw0KGgo=');
    const [asked] = await historyOf(server.http, chat.id);
    expect(asked?.parts).toEqual([
      image,
      { ...note, url: `data:text/plain;base64,${btoa('some text')}` },
      { type: 'text', text: 'look' },
    ]);
  });

  test('may have parts and fields that are not used', async () => {
    const message = { ...userMessage('hello'), extra: { deep: [1] } };
    const parts = [...message.parts, { type: 'data-mood', data: 'good' }, { type: 'source-url', url: 'x' }];
    const body = { id: newId(), messages: [{ ...message, parts }], more: true, trigger: 'submit-message' };
    expect(typesOf(await chunksOf(await post(server.http, body))).at(-1)).toBe('finish');
    expect(promptOf()).toContain('hello');
  });

  test('of the system replaces the instructions and is not part of the chat', async () => {
    const system = { id: 's', role: 'system', parts: [{ type: 'text', text: 'Rhyme.' }] };
    const id = newId();
    await chunksOf(await post(server.http, { id, messages: [system, userMessage('hi')] }));
    expect(model.requests.at(-1)?.messages[0]).toEqual({ role: 'system', content: 'Rhyme.' });
    expect((await historyOf(server.http, id)).map(({ role }) => role)).toEqual(['user', 'assistant']);
  });

  test('that fails is an error in the stream, and regenerate tries again', async () => {
    const chat = chatWith({ server, id: newId() });
    await chat.sendMessage({ text: 'fail' });
    expect(chat.status).toBe('error');
    expect(chat.error?.message).toMatch(/^[^{\n]+\.$/);
    const asked = model.requests.length;
    await chat.regenerate();
    expect(model.requests).toHaveLength(asked + 1);
    const response = await post(server.http, { id: newId(), messages: [userMessage('fail')] });
    expect(response.status).toBe(200);
    expect(typesOf(await chunksOf(response)).slice(-1)).toEqual(['error']);
  });
});

test('tools of the server are shown as dynamic tools that the page does not run', async () => {
  const asked: unknown[] = [];
  const chat = chatWith({ server, id: newId(), onToolCall: (call) => void asked.push(call) });
  await chat.sendMessage({ text: 'echo' });
  expect(asked).toEqual([]);
  expect(serverCalls(chat)).toMatchObject([
    { toolName: 'echo', state: 'output-available', input: { value: 'seen' }, providerExecuted: true },
  ]);
  expect(chat.lastMessage?.parts.filter(({ type }) => type === 'step-start')).toHaveLength(2);
  expect(textOf(chat.lastMessage)).toMatch(/^Found .*seen.*\.$/s);
  expect(shown(await historyOf(server.http, chat.id))).toEqual(shown(chat.messages));
});

test('fifty concurrent chats do not mix', async () => {
  const chats = Array.from({ length: 50 }, (_, number) => ({
    number,
    chat: chatWith({ server, id: newId() }),
  }));
  await Promise.all(chats.map(({ number, chat }) => chat.sendMessage({ text: `number ${number}!` })));
  await Promise.all(chats.map(({ number, chat }) => chat.sendMessage({ text: `and ${number}?` })));
  for (const { number, chat } of chats)
    expect(textsOf(chat)).toEqual([
      `user: number ${number}!`,
      `assistant: You said number ${number}!.`,
      `user: and ${number}?`,
      `assistant: You said and ${number}?.`,
    ]);
});
