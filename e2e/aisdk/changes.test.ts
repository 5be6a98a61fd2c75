/** Edited and regenerated messages, and chats that start with imported messages. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { type ScriptedModel, scriptedModel } from '../scripted-model.ts';
import { durableOf } from '../server-process.ts';
import { chatWith, chunksOf, historyOf, idOf, post, shown, textOf, textsOf, userMessage } from './client.ts';

let count = 0;

let model: ScriptedModel;
let server: TestServer;

beforeAll(async () => {
  model = scriptedModel(({ messages }) => ({ say: `You said ${messages.at(-1)?.content}.` }));
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

describe('history is changed by', () => {
  test('regenerate: the old answer leaves the context, the new one has a new id', async () => {
    const chat = chatWith({ server, id: newId() });
    await chat.sendMessage({ text: 'one' });
    await chat.sendMessage({ text: 'two' });
    const before = chat.messages.map(({ id }) => id);
    await chat.regenerate();
    const after = chat.messages.map(({ id }) => id);
    expect(after.slice(0, 3)).toEqual(before.slice(0, 3));
    expect(after).toHaveLength(4);
    expect(after[3]).not.toBe(before[3]);
    expect(JSON.parse(promptOf())).toHaveLength(3);
    expect(shown(await historyOf(server.http, chat.id))).toEqual(shown(chat.messages));
    expect(await turnsOf(chat.id)).toBe(3);
    // The message is the same: posting it again returns its current answer.
    const again = await post(server.http, { id: chat.id, messages: chat.messages.slice(0, 3) });
    expect(idOf(await chunksOf(again))).toBe(after[3] ?? 'none');
    expect(await turnsOf(chat.id)).toBe(3);
  });

  test('regenerate of an earlier answer: later messages leave the context as well', async () => {
    const chat = chatWith({ server, id: newId() });
    await chat.sendMessage({ text: 'one' });
    await chat.sendMessage({ text: 'two' });
    await chat.regenerate({ messageId: chat.messages[1]?.id });
    expect(textsOf(chat)).toEqual(['user: one', 'assistant: You said one.']);
    expect(shown(await historyOf(server.http, chat.id))).toEqual(shown(chat.messages));
    expect(JSON.parse(promptOf())).toHaveLength(1);
  });

  test('an edit: the message keeps its id; its old version and later messages leave the context', async () => {
    const chat = chatWith({ server, id: newId() });
    await chat.sendMessage({ text: 'one' });
    await chat.sendMessage({ text: 'two' });
    const [first] = chat.messages;
    await chat.sendMessage({ text: 'uno', messageId: first?.id });
    expect(textsOf(chat)).toEqual(['user: uno', 'assistant: You said uno.']);
    await chat.sendMessage({ text: 'tres' });
    expect(promptOf()).not.toContain('one');
    expect(promptOf()).not.toContain('two');
    expect(shown(await historyOf(server.http, chat.id))).toEqual(shown(chat.messages));
    expect(chat.messages[0]?.id).toBe(first?.id ?? 'none');
  });

  test('nothing if sendMessage() repeats a message', async () => {
    const chat = chatWith({ server, id: newId() });
    await chat.sendMessage({ text: 'one' });
    const again = chatWith({ server, id: chat.id, messages: chat.messages.slice(0, 1) });
    await again.sendMessage();
    expect(shown(again.messages)).toEqual(shown(chat.messages));
    expect(await turnsOf(chat.id)).toBe(1);
  });

  test('nothing if a client is behind', async () => {
    const chat = chatWith({ server, id: newId() });
    await chat.sendMessage({ text: 'one' });
    const stale = chatWith({ server, id: chat.id, messages: structuredClone(chat.messages) });
    await chat.sendMessage({ text: 'two' });
    await stale.sendMessage({ text: 'three' });
    expect(promptOf()).toContain('two');
    expect((await historyOf(server.http, chat.id)).map(textOf)).toEqual([
      'one',
      'You said one.',
      'two',
      'You said two.',
      'three',
      'You said three.',
    ]);
  });
});

test('a message that was not accepted is sent by regenerate', async () => {
  const chat = chatWith({ server, id: newId(), messages: [userMessage('lost on its way')] });
  await chat.regenerate();
  expect(textsOf(chat)).toEqual(['user: lost on its way', 'assistant: You said lost on its way.']);
});

test('a chat with messages from elsewhere starts with them', async () => {
  const chat = chatWith({
    server,
    id: newId(),
    messages: [
      { id: 'greeting', role: 'assistant', parts: [{ type: 'text', text: 'Welcome.' }] },
      userMessage('earlier', 'u1'),
      {
        id: 'a1',
        role: 'assistant',
        parts: [
          { type: 'step-start' },
          {
            type: 'dynamic-tool',
            toolName: 'clock',
            toolCallId: 'c1',
            state: 'output-available',
            input: {},
            output: { at: 7 },
          },
          { type: 'text', text: 'It is seven.' },
        ],
      },
    ],
  });
  await chat.sendMessage({ text: 'and now?' });
  expect(promptOf()).toContain('It is seven.');
  expect(promptOf()).toContain('Welcome.');
  const history = await historyOf(server.http, chat.id);
  expect(history.map(({ id }) => id)).toEqual(chat.messages.map(({ id }) => id));
  expect(history.map(textOf)).toEqual(chat.messages.map(textOf));
  expect(await turnsOf(chat.id)).toBe(1);
});
