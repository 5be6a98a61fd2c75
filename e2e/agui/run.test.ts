/** Runs, driven by the official client. */
import { describe, expect, test } from 'bun:test';
import type { Answer, ChatRequest } from '../scripted-model.ts';
import { durableOf } from '../server-process.ts';
import { contentOf, distinct, httpAgent, run } from './client.ts';
import { sharedServer } from './setup.ts';

const TEXT = ['TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END'];

/** Repeats the last user message, or makes the call that it names. */
function answerTo({ messages }: ChatRequest): Answer {
  const last = messages.at(-1);
  const text = String(last?.content ?? '');
  if (last?.role === 'tool') return { say: `It is ${text}.` };
  if (text.startsWith('echo')) return { call: 'echo', input: { value: 'seen' } };
  if (text.startsWith('think')) return { say: `You said ${text}.`, think: 'Hm, so.' };
  return { say: `You said ${text}.` };
}

const place = sharedServer(answerTo);
const { turnsOf } = place;

describe('an answer', () => {
  test('is a text message between RUN_STARTED and RUN_FINISHED, with the usage', async () => {
    const agent = httpAgent(place.server.http);
    const { events, types, newMessages, outcome } = await run(agent, 'a b c', { runId: 'run-1' });
    expect(distinct(types)).toEqual(['RUN_STARTED', ...TEXT, 'RUN_FINISHED']);
    expect(events[0]).toMatchObject({ threadId: agent.threadId, runId: 'run-1' });
    expect(outcome).toEqual({ type: 'success' });
    expect(events.at(-1)).toMatchObject({
      threadId: agent.threadId,
      runId: 'run-1',
      usage: [{ inputTokens: 100, outputTokens: 5, totalTokens: 105 }],
    });
    expect(newMessages).toEqual([{ id: expect.any(String), role: 'assistant', content: 'You said a b c.' }]);
  });

  test('is preceded by its reasoning as a separate message', async () => {
    const { types, newMessages } = await run(httpAgent(place.server.http), 'think');
    expect(distinct(types)).toEqual([
      'RUN_STARTED',
      'REASONING_START',
      'REASONING_MESSAGE_START',
      'REASONING_MESSAGE_CONTENT',
      'REASONING_MESSAGE_END',
      'REASONING_END',
      ...TEXT,
      'RUN_FINISHED',
    ]);
    expect(newMessages).toMatchObject([
      { role: 'reasoning', content: 'Hm, so.' },
      { role: 'assistant', content: 'You said think.' },
    ]);
  });

  test('continues one session, although the client sends the history each time', async () => {
    const agent = httpAgent(place.server.http);
    for (const text of ['one', 'think two', 'three']) await run(agent, text);
    expect(contentOf(agent.messages, 'user')).toEqual(['one', 'think two', 'three']);
    expect(contentOf(agent.messages, 'assistant')).toEqual([
      'You said one.',
      'You said think two.',
      'You said three.',
    ]);
    expect(await turnsOf(agent.threadId)).toBe(3);
    const prompt = place.model.requests.at(-1)?.messages.filter(({ role }) => role !== 'system');
    expect(prompt?.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant', 'user']);
  });

  test('comes from the agent in the path', async () => {
    const agent = httpAgent(place.server.http, { agent: 'coder' });
    await run(agent, 'hello');
    const started = (await durableOf(place.server, agent.threadId)).find(
      ({ type }) => type === 'turn.started',
    );
    expect(started).toMatchObject({ agent: { id: 'coder' } });
  });

  test('contains only fields of the protocol, and none that is null or empty', async () => {
    const response = await fetch(`${place.server.http}/agui`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({
        threadId: 'raw',
        runId: 'r',
        messages: [{ id: 'm', role: 'user', content: 'think' }],
      }),
    });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const text = await response.text();
    const frames = text.split('\n\n').filter((frame) => frame !== '' && !frame.startsWith(':'));
    expect(frames.every((frame) => frame.startsWith('data: {'))).toBeTrue();
    expect(text).not.toContain('null');
    expect(text).not.toContain('"delta":""');
    expect(text).not.toContain('protocolVersion');
  });
});

describe('the prompt contains', () => {
  test('context entries, for this run only', async () => {
    const agent = httpAgent(place.server.http);
    await run(agent, 'one', { context: [{ description: 'The open page', value: 'Invoices' }] });
    const system = () => String(place.model.requests.at(-1)?.messages[0]?.content);
    expect(system()).toContain('The open page');
    expect(system()).toContain('Invoices');
    await run(agent, 'two');
    expect(system()).not.toContain('Invoices');
    expect(JSON.stringify(await durableOf(place.server, agent.threadId))).toContain('Invoices');
  });

  test('system and developer messages instead of the instructions', async () => {
    const agent = httpAgent(place.server.http, {
      messages: [
        { id: 's', role: 'system', content: 'Rhyme.' },
        { id: 'd', role: 'developer', content: 'Be brief.' },
      ],
    });
    await run(agent, 'hi');
    expect(place.model.requests.at(-1)?.messages[0]).toEqual({
      role: 'system',
      content: 'Rhyme.\n\nBe brief.',
    });
    expect(place.model.requests.at(-1)?.messages).toHaveLength(2);
  });

  test('images and files that are sent as data', async () => {
    const agent = httpAgent(place.server.http);
    agent.addMessage({
      id: 'image',
      role: 'user',
      content: [
        { type: 'text', text: 'look' },
        { type: 'image', source: { type: 'data', value: 'aGk=', mimeType: 'image/png' } },
      ],
    });
    await run(agent, null);
    expect(JSON.stringify(place.model.requests.at(-1)?.messages.at(-1))).toContain(
      'data:image/png;base64,aGk=',
    );
    const looked = await run(httpAgent(place.server.http, { thread: agent.threadId }), null);
    expect(looked.newMessages[0]).toEqual(agent.messages[0] as never);
  });

  test('several new messages of the user as one input', async () => {
    const agent = httpAgent(place.server.http);
    agent.addMessages([
      { id: 'a', role: 'user', content: 'first' },
      { id: 'b', role: 'user', content: 'second' },
    ]);
    const { newMessages } = await run(agent, null);
    expect(newMessages).toHaveLength(1);
    await run(agent, 'third');
    expect(await turnsOf(agent.threadId)).toBe(2);
  });
});

test('a tool of the agent runs on the server, and its call and result are shown', async () => {
  const agent = httpAgent(place.server.http);
  const { types, newMessages, events } = await run(agent, 'echo');
  expect(distinct(types)).toEqual([
    'RUN_STARTED',
    'TOOL_CALL_START',
    'TOOL_CALL_ARGS',
    'TOOL_CALL_END',
    'TOOL_CALL_RESULT',
    ...TEXT,
    'RUN_FINISHED',
  ]);
  expect(newMessages.map(({ role }) => role)).toEqual(['assistant', 'tool', 'assistant']);
  expect(contentOf(newMessages, 'tool')[0]).toContain('seen');
  expect(events.at(-1)).toMatchObject({ outcome: { type: 'success' }, usage: [{ totalTokens: 210 }] });
});
