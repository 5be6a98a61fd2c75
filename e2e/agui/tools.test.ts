/** Tools of the front end: offered, called, answered in the next run. */
import { describe, expect, test } from 'bun:test';
import type { Tool } from '@ag-ui/client';
import type { Answer, ChatRequest } from '../scripted-model.ts';
import { durableOf } from '../server-process.ts';
import { contentOf, distinct, httpAgent, run } from './client.ts';
import { sharedServer } from './setup.ts';

const WEATHER: Tool = {
  name: 'weather',
  description: 'The weather of a city.',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
};

const TEXT = ['TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END'];

/** Repeats the last user message, or makes the call that it names. */
function answerTo({ messages }: ChatRequest): Answer {
  const last = messages.at(-1);
  const text = String(last?.content ?? '');
  if (last?.role === 'tool') return { say: `It is ${text}.` };
  if (text.startsWith('both'))
    return {
      calls: [
        ['weather', { city: 'Rome' }],
        ['weather', { city: 'Oslo' }],
      ],
    };
  if (text.startsWith('mixed'))
    return {
      calls: [
        ['weather', { city: 'Rome' }],
        ['echo', { value: 'seen' }],
      ],
    };
  if (text.startsWith('echo')) return { call: 'echo', input: { value: 'seen' } };
  if (text.startsWith('weather')) return { call: 'weather', input: { city: 'Rome' } };
  return { say: `You said ${text}.` };
}

const place = sharedServer(answerTo);
const { turnsOf } = place;

describe('tools of the front end', () => {
  test('are offered beside the agent’s own; a call ends the run, and its result continues the turn', async () => {
    const agent = httpAgent(place.server.http);
    const { types, outcome, newMessages } = await run(agent, 'weather', { tools: [WEATHER] });
    const offered = place.model.requests.at(-1)?.tools?.map((tool) => tool.function.name) ?? [];
    expect(offered).toEqual(expect.arrayContaining(['weather', 'echo', 'shell']));
    expect(distinct(types)).toEqual([
      'RUN_STARTED',
      'TOOL_CALL_START',
      'TOOL_CALL_ARGS',
      'TOOL_CALL_END',
      'RUN_FINISHED',
    ]);
    const [message] = newMessages;
    const call = message?.role === 'assistant' ? message.toolCalls?.[0] : undefined;
    expect(call).toMatchObject({
      type: 'function',
      function: { name: 'weather', arguments: '{"city":"Rome"}' },
    });
    expect(outcome).toEqual({ type: 'success', pendingToolCallIds: [call?.id ?? ''] });

    agent.addMessage({ id: 'result-1', role: 'tool', toolCallId: call?.id ?? '', content: 'sunny' });
    const next = await run(agent, null, { tools: [WEATHER] });
    expect(distinct(next.types)).toEqual(['RUN_STARTED', ...TEXT, 'RUN_FINISHED']);
    expect(next.newMessages).toMatchObject([{ role: 'assistant', content: 'It is sunny.' }]);
    expect(next.events.at(-1)).toMatchObject({ usage: [{ inputTokens: 100, outputTokens: 5 }] });
    expect(await turnsOf(agent.threadId)).toBe(1);
  });

  test('take precedence over a tool of the agent with the same name', async () => {
    const agent = httpAgent(place.server.http);
    const own = { ...WEATHER, name: 'echo' };
    const { types, outcome } = await run(agent, 'echo this', { tools: [own] });
    const offered = place.model.requests.at(-1)?.tools?.filter((tool) => tool.function.name === 'echo');
    expect(offered).toMatchObject([{ function: { description: WEATHER.description } }]);
    expect(types).not.toContain('TOOL_CALL_RESULT');
    expect(outcome?.pendingToolCallIds).toHaveLength(1);
  });

  test('several calls are answered together, or one after another', async () => {
    for (const together of [true, false]) {
      const agent = httpAgent(place.server.http);
      const { outcome } = await run(agent, 'both', { tools: [WEATHER] });
      const [first = '', second = ''] = outcome?.pendingToolCallIds ?? [];
      agent.addMessage({ id: 'r1', role: 'tool', toolCallId: first, content: 'sunny' });
      if (!together) {
        const waiting = await run(agent, null, { tools: [WEATHER] });
        expect(waiting.types).toEqual(['RUN_STARTED', 'RUN_FINISHED']);
        expect(waiting.outcome).toEqual({ type: 'success', pendingToolCallIds: [second] });
      }
      agent.addMessage({ id: 'r2', role: 'tool', toolCallId: second, content: 'snowy' });
      const { newMessages } = await run(agent, null, { tools: [WEATHER] });
      expect(contentOf(newMessages, 'assistant')).toEqual(['It is snowy.']);
      expect(await turnsOf(agent.threadId)).toBe(1);
    }
  });

  test('one beside a call of the agent waits for the result of the latter', async () => {
    const agent = httpAgent(place.server.http);
    const { types, newMessages, outcome } = await run(agent, 'mixed', { tools: [WEATHER] });
    expect(types.filter((type) => type === 'TOOL_CALL_START')).toHaveLength(2);
    expect(types.filter((type) => type === 'TOOL_CALL_RESULT')).toHaveLength(1);
    expect(newMessages.map(({ role }) => role)).toEqual(['assistant', 'tool']);
    expect(outcome?.pendingToolCallIds).toHaveLength(1);
  });

  test('a failed one is reported to the model as a failure', async () => {
    const agent = httpAgent(place.server.http);
    const { outcome } = await run(agent, 'weather', { tools: [WEATHER] });
    const call = outcome?.pendingToolCallIds?.[0] ?? '';
    agent.addMessage({ id: 'r', role: 'tool', toolCallId: call, content: '', error: 'no network' });
    expect(contentOf((await run(agent, null)).newMessages, 'assistant')[0]).toContain('no network');
    const ended = (await durableOf(place.server, agent.threadId)).find(({ type }) => type === 'tool.ended');
    expect(ended).toMatchObject({ outcome: 'failed' });
  });

  test('a message instead of the result closes the call', async () => {
    const agent = httpAgent(place.server.http);
    await run(agent, 'weather', { tools: [WEATHER] });
    const { newMessages } = await run(agent, 'never mind');
    expect(contentOf(newMessages, 'assistant')).toEqual(['You said never mind.']);
    const ended = (await durableOf(place.server, agent.threadId)).find(({ type }) => type === 'tool.ended');
    expect(ended).toMatchObject({ outcome: 'aborted' });
  });

  test('a result and a new message in one run are one turn and one model call', async () => {
    for (const [asked, given] of [
      ['weather', 1],
      ['both', 2],
      ['both', 1],
    ] as const) {
      const agent = httpAgent(place.server.http);
      const { outcome } = await run(agent, asked, { tools: [WEATHER] });
      const calls = outcome?.pendingToolCallIds ?? [];
      for (const [index, call] of calls.slice(0, given).entries())
        agent.addMessage({ id: `r${index}`, role: 'tool', toolCallId: call, content: `sunny ${index}` });
      const before = place.model.requests.length;
      const { newMessages, types } = await run(agent, 'and tomorrow?', { tools: [WEATHER] });
      expect(contentOf(newMessages, 'assistant')).toEqual(['You said and tomorrow?.']);
      expect(distinct(types)).toEqual(['RUN_STARTED', ...TEXT, 'RUN_FINISHED']);
      expect(place.model.requests).toHaveLength(before + 1);
      const prompt = place.model.requests.at(-1)?.messages.slice(1) ?? [];
      expect(prompt.map(({ role }) => role)).toEqual([
        'user',
        'assistant',
        ...calls.map(() => 'tool'),
        'user',
      ]);
      expect(prompt.filter(({ role }) => role === 'tool').map(({ content }) => content)).toEqual(
        calls.map((_, index) => (index < given ? `sunny ${index}` : 'aborted')),
      );
      // A repeated request is the same turn.
      await run(
        httpAgent(place.server.http, { thread: agent.threadId, messages: agent.messages.slice(0, -1) }),
        null,
      );
      expect(place.model.requests).toHaveLength(before + 1);
      const fresh = httpAgent(place.server.http, { thread: agent.threadId });
      await run(fresh, null);
      expect(contentOf(fresh.messages, 'user')).toEqual([asked, 'and tomorrow?']);
    }
  });

  test('the context of the run with the result is in its prompt', async () => {
    const agent = httpAgent(place.server.http);
    const { outcome } = await run(agent, 'weather', {
      tools: [WEATHER],
      context: [{ description: 'List', value: 'empty' }],
    });
    const call = outcome?.pendingToolCallIds?.[0] ?? '';
    agent.addMessage({ id: 'r', role: 'tool', toolCallId: call, content: 'sunny' });
    await run(agent, null, { tools: [WEATHER], context: [{ description: 'List', value: 'one entry' }] });
    const system = String(place.model.requests.at(-1)?.messages[0]?.content);
    expect(system).toContain('one entry');
    expect(system).not.toContain('empty');
  });
});
