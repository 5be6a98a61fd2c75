/** Tools of the page. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { lastAssistantMessageIsCompleteWithToolCalls } from 'ai';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { type ScriptedModel, scriptedModel } from '../scripted-model.ts';
import { durableOf, followed } from '../server-process.ts';
import { callsOf, ready, says, TOOLS, transport } from './calling-model.ts';
import {
  chatWith,
  chunksOf,
  historyOf,
  idOf,
  post,
  shown,
  stateTypes,
  textOf,
  typesOf,
  userMessage,
} from './client.ts';

let model: ScriptedModel;
let server: TestServer;
let count = 0;
let id: string;

beforeAll(async () => {
  model = scriptedModel(callsOf);
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
beforeEach(() => {
  id = `tools-${++count}`;
});

const eventsOf = (session: string, type: string) =>
  durableOf(server, session).then((events) => events.filter((event) => event.type === type));

describe('tools of the page', () => {
  test('are offered beside the agent’s, run by onToolCall, and the turn continues in the same message', async () => {
    const calls: unknown[] = [];
    const chat = chatWith({
      server,
      id,
      transport,
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
      onToolCall({ toolCall }) {
        calls.push(toolCall.input);
        void chat.addToolOutput({
          tool: 'locate',
          toolCallId: toolCall.toolCallId,
          output: { city: 'Rome' },
        });
      },
    });
    await chat.sendMessage({ text: 'locate' });
    await says(chat, 'Then');
    const names = model.requests.at(-1)?.tools?.map((tool) => tool.function.name) ?? [];
    expect(names).toContain('locate');
    expect(names).toContain('shell');
    expect(calls).toEqual([{ precise: true }]);
    expect(textOf(chat.lastMessage)).toBe('Then {"city":"Rome"}.');
    expect(chat.messages).toHaveLength(2);
    expect(stateTypes(chat.lastMessage)).toEqual([
      'step-start',
      'tool-locate output-available',
      'step-start',
      'text done',
    ]);
    expect(shown(await historyOf(server.http, id))).toEqual(shown(chat.messages));
    expect(await eventsOf(id, 'turn.started')).toHaveLength(1);
  });

  test('may be given by name, with instructions, as assistant-ui sends them', async () => {
    const parameters = { type: 'object', properties: { precise: { type: 'boolean' } } };
    const messages = [userMessage('locate')];
    const body = { id, messages, callSettings: {}, config: {}, metadata: {} };
    const tools = { locate: { description: 'Where the user is', parameters } };
    const chunks = await chunksOf(
      await post(server.http, { ...body, tools, system: 'Use the metric system.' }),
    );
    expect(chunks).toContainEqual(
      expect.objectContaining({ type: 'tool-input-available', toolName: 'locate' }),
    );
    const request = model.requests.at(-1);
    expect(request?.tools?.find((tool) => tool.function.name === 'locate')).toMatchObject({
      function: { description: 'Where the user is', parameters },
    });
    expect(JSON.stringify(request?.messages)).toContain('Use the metric system.');
    const none = { ...body, id: `${id}-none`, messages: [userMessage('hello')], tools: {} };
    expect((await chunksOf(await post(server.http, none))).at(-1)).toMatchObject({ type: 'finish' });
  });

  test('are not marked as server tools; the stream ends with tool-calls, and the next starts with the same id and a new step', async () => {
    const asked = userMessage('locate');
    const first = await chunksOf(await post(server.http, { id, messages: [asked], tools: TOOLS }));
    expect(typesOf(first).slice(-4)).toEqual([
      'tool-input-delta',
      'tool-input-available',
      'finish-step',
      'finish',
    ]);
    const call = first.find((chunk) => chunk.type === 'tool-input-available');
    expect(call).toEqual({
      type: 'tool-input-available',
      toolCallId: expect.any(String),
      toolName: 'locate',
      input: { precise: true },
    });
    expect(first.at(-1)).toEqual({ type: 'finish', finishReason: 'tool-calls' });
    const part = { type: 'tool-locate', toolCallId: call?.toolCallId, input: {} };
    const messages = [
      asked,
      { id: idOf(first), role: 'assistant', parts: [{ ...part, state: 'output-available', output: 'here' }] },
    ];
    const next = await chunksOf(await post(server.http, { id, messages, tools: TOOLS }));
    expect(idOf(next)).toBe(idOf(first) ?? 'none');
    expect(typesOf(next).slice(0, 3)).toEqual(['start', 'start-step', 'text-start']);
    expect(next.at(-1)).toEqual({ type: 'finish', finishReason: 'stop' });
    // Repeated results change nothing, and get an error.
    const again = await post(server.http, { id, messages, tools: TOOLS });
    expect([again.status, await again.text()]).toEqual([409, 'This has already been answered.']);
    expect(await eventsOf(id, 'tool.ended')).toHaveLength(1);
  });

  test('take precedence over a tool of the agent with the same name', async () => {
    const tools = [{ name: 'echo', description: 'Of the page' }];
    const chunks = await chunksOf(await post(server.http, { id, messages: [userMessage('echo')], tools }));
    expect(chunks.at(-1)).toEqual({ type: 'finish', finishReason: 'tool-calls' });
    expect(chunks.find((chunk) => chunk.type === 'tool-input-available')).not.toHaveProperty('dynamic');
  });

  test('an empty answer after the output is a separate step, so the client does not send again', async () => {
    const chat = chatWith({
      server,
      id,
      transport,
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
      onToolCall: ({ toolCall: { toolCallId } }) =>
        void chat.addToolOutput({ tool: 'locate', toolCallId, output: 'nowhere' }),
    });
    await chat.sendMessage({ text: 'locate' });
    await followed(server, id, (events) => events.some(({ type }) => type === 'turn.ended'));
    await ready(chat);
    expect(chat.error).toBeUndefined();
    expect(stateTypes(chat.lastMessage)).toEqual([
      'step-start',
      'tool-locate output-available',
      'step-start',
      'text done',
    ]);
    expect(shown(await historyOf(server.http, id))).toEqual(shown(chat.messages));
  });

  test('may fail, and several wait for each other', async () => {
    const chat = chatWith({
      server,
      id,
      transport,
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
    });
    await chat.sendMessage({ text: 'twice' });
    const [one, two] = (chat.lastMessage?.parts ?? []).filter((part) => part.type === 'tool-locate');
    if (!one || !two || !('toolCallId' in one) || !('toolCallId' in two)) throw new Error('no calls');
    await chat.addToolOutput({ tool: 'locate', toolCallId: one.toolCallId, output: 'Rome' });
    expect(chat.status).toBe('ready');
    const errorText = 'No signal';
    await chat.addToolOutput({
      tool: 'locate',
      toolCallId: two.toolCallId,
      state: 'output-error',
      errorText,
    });
    await says(chat, 'Then');
    expect(textOf(chat.lastMessage)).toContain('No signal');
    expect(stateTypes(chat.lastMessage).slice(1, 3)).toEqual([
      'tool-locate output-available',
      'tool-locate output-error',
    ]);
    expect(shown(await historyOf(server.http, id))).toEqual(shown(chat.messages));
  });

  test('a message instead of the output closes the call', async () => {
    const chat = chatWith({ server, id, transport });
    await chat.sendMessage({ text: 'locate' });
    await chat.sendMessage({ text: 'never mind' });
    expect(textOf(chat.lastMessage)).toBe('You said never mind.');
    expect(await eventsOf(id, 'tool.ended')).toMatchObject([{ outcome: 'aborted' }]);
    const [, answer] = await historyOf(server.http, id);
    expect(stateTypes(answer)).toEqual(['step-start', 'tool-locate output-error']);
  });

  test('an output and a new message in one request are one turn and one model call', async () => {
    const chat = chatWith({ server, id, transport });
    await chat.sendMessage({ text: 'locate' });
    const call = chat.lastMessage?.parts.find((part) => part.type === 'tool-locate');
    const toolCallId = call && 'toolCallId' in call ? call.toolCallId : '';
    await chat.addToolOutput({ tool: 'locate', toolCallId, output: { city: 'Rome' } });
    const before = model.requests.length;
    await chat.sendMessage({ text: 'and tomorrow?' });
    expect(textOf(chat.lastMessage)).toBe('You said and tomorrow?.');
    expect(model.requests).toHaveLength(before + 1);
    const prompt = model.requests.at(-1)?.messages.slice(1) ?? [];
    expect(prompt.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user']);
    expect(prompt[2]?.content).toBe('{"city":"Rome"}');
    expect(shown(await historyOf(server.http, id))).toEqual(shown(chat.messages));
  });

  test('still wait after a reload: the history has the call, and there is nothing to resume', async () => {
    await chatWith({ server, id, transport }).sendMessage({ text: 'locate' });
    expect((await fetch(`${server.http}/api/chat/${id}/stream`)).status).toBe(204);
    const chat = chatWith({
      server,
      id,
      transport,
      messages: await historyOf(server.http, id),
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
    });
    await chat.resumeStream();
    const [, part] = chat.lastMessage?.parts ?? [];
    if (!part || !('toolCallId' in part)) throw new Error('no call');
    await chat.addToolOutput({ tool: 'locate', toolCallId: part.toolCallId, output: 'Oslo' });
    await says(chat, 'Then Oslo');
    expect(chat.messages).toHaveLength(2);
  });
});

test('an answer that nothing waits for is refused, and an unknown answer is not found', async () => {
  const chat = chatWith({ server, id });
  await chat.sendMessage({ text: 'hello' });
  const refused = await post(server.http, { id, messages: chat.messages });
  expect([refused.status, await refused.text()]).toEqual([409, 'This has already been answered.']);
  const [asked, answer] = chat.messages;
  const unknown = await post(server.http, { id, messages: [asked, { ...answer, id: 'nobody' }] });
  expect([unknown.status, await unknown.text()]).toEqual([404, 'There is no such answer in this chat.']);
  expect(await historyOf(server.http, id)).toHaveLength(2);
});
