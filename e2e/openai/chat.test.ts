/** Chat Completions, driven by the official client. */
import { describe, expect, test } from 'bun:test';
import type OpenAI from 'openai';
import { repeating } from '../exchange.ts';
import { modelServer } from '../model-server.ts';
import { durableOf } from '../server-process.ts';
import { openaiClient, sessionOf } from './client.ts';

type Message = OpenAI.ChatCompletionMessageParam;

const user = (content: string): Message => ({ role: 'user', content });

const WEATHER: OpenAI.ChatCompletionTool = {
  type: 'function',
  function: {
    name: 'weather',
    description: 'The weather of a city.',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
};

const { model, server, turnsOf, prompt } = await modelServer(repeating);
const client = openaiClient(server.http);

const ask = (messages: Message[], more: Partial<OpenAI.ChatCompletionCreateParamsNonStreaming> = {}) =>
  client.chat.completions.create({ model: 'fake', messages, ...more }).withResponse();

describe('a whole answer', () => {
  test('has one choice, the model that answered and the usage', async () => {
    const { data, response } = await ask([user('hello')]);
    expect(data).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-/),
      object: 'chat.completion',
      created: expect.any(Number),
      model: 'fake',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'You said hello.', refusal: null },
          finish_reason: 'stop',
          logprobs: null,
        },
      ],
      usage: { prompt_tokens: 100, completion_tokens: 5, total_tokens: 105 },
    });
    expect(sessionOf(response)).not.toBe('');
  });

  test('what finds the conversation again is stored with the end of the turn', async () => {
    const { response } = await ask([user('together')]);
    const types = (await durableOf(server, sessionOf(response))).map(({ type }) => type);
    expect(types.slice(-4)).toEqual(['text.ended', 'step.ended', 'session.labelled', 'turn.ended']);
  });

  test('system messages replace the instructions and are not part of the conversation', async () => {
    const { response } = await ask([{ role: 'system', content: 'Rhyme.' }, user('hi')]);
    expect(model.requests.at(-1)?.messages).toEqual([
      { role: 'system', content: 'Rhyme.' },
      expect.objectContaining({ role: 'user' }),
    ]);
    const events = await durableOf(server, sessionOf(response));
    expect(events.filter(({ type }) => type === 'input.accepted')).toHaveLength(1);
  });

  test('system messages in the middle keep their place and are not part of the compared history', async () => {
    const first = await ask([user('one')]);
    const said = first.data.choices[0]?.message as Message;
    const brief: Message = { role: 'system', content: 'Be brief.' };
    const second = await ask([user('one'), said, brief, user('two')]);
    const third = await ask([
      user('one'),
      said,
      user('two'),
      second.data.choices[0]?.message as Message,
      user('three'),
    ]);
    expect(prompt().slice(1)).toEqual([
      ['user', 'one'],
      ['assistant', 'You said one.'],
      ['system', 'Be brief.'],
      ['user', 'two'],
      ['assistant', 'You said two.'],
      ['user', 'three'],
    ]);
    expect(new Set([first, second, third].map(({ response }) => sessionOf(response))).size).toBe(1);
  });

  test('content may have several parts, which form one message', async () => {
    const content = [
      { type: 'text', text: 'one' },
      { type: 'text', text: 'two' },
    ] as const;
    const { data } = await ask([{ role: 'user', content: [...content] }]);
    expect(data.choices[0]?.message.content).toContain('one');
    expect(data.choices[0]?.message.content).toContain('two');
  });
});

describe('a stream', () => {
  test('starts with the role, then has text in pieces and the reason, and ends with [DONE]', async () => {
    const response = await fetch(`${server.http}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'fake', messages: [user('a b')], stream: true }),
    });
    expect(response.headers.get('x-parlance-session')).not.toBeNull();
    const lines = (await response.text()).split('\n\n').filter((line) => line !== '');
    expect(lines.at(-1)).toBe('data: [DONE]');
    expect(lines.every((line) => line.startsWith('data: '))).toBeTrue();
    const chunks = lines.slice(0, -1).map((line) => JSON.parse(line.slice('data: '.length)));
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
    const deltas = chunks.map(({ choices }) => choices[0].delta);
    expect(deltas[0]).toMatchObject({ role: 'assistant' });
    expect(deltas).toContainEqual({ reasoning_content: 'Hm.' });
    expect(deltas.map(({ content = '' }) => content).join('')).toBe('You said a b.');
    expect(chunks.map(({ choices }) => choices[0].finish_reason).filter(Boolean)).toEqual(['stop']);
    expect(chunks.at(-1)?.choices[0].finish_reason).toBe('stop');
    expect(chunks.every((chunk) => !('usage' in chunk))).toBeTrue();
  });

  test('has the usage in one more chunk if requested', async () => {
    const stream = await client.chat.completions.create({
      model: 'fake',
      messages: [user('hello')],
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 105 } });
    expect(chunks.slice(0, -1).every(({ usage }) => usage === null)).toBeTrue();
  });

  test('is assembled by the client', async () => {
    const stream = client.chat.completions.stream({
      model: 'fake',
      messages: [user('both')],
      tools: [WEATHER],
    });
    const { choices } = await stream.finalChatCompletion();
    expect(choices[0]?.finish_reason).toBe('tool_calls');
    const calls = choices[0]?.message.tool_calls ?? [];
    expect(calls.map((call) => call.type === 'function' && JSON.parse(call.function.arguments))).toEqual([
      { city: 'Rome' },
      { city: 'Oslo' },
    ]);
  });
});

describe('tools of the caller', () => {
  test('are the only ones offered; the answer has the calls and null as content, and the results continue the turn', async () => {
    const { data, response } = await ask([user('weather')], { tools: [WEATHER] });
    expect(model.requests.at(-1)?.tools?.map((tool) => tool.function.name)).toEqual(['weather']);
    const [choice] = data.choices;
    expect(choice).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: null,
        tool_calls: [{ type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } }],
      },
    });
    const id = choice?.message.tool_calls?.[0]?.id ?? '';
    const history: Message[] = [
      user('weather'),
      choice?.message as Message,
      { role: 'tool', tool_call_id: id, content: 'sunny' },
    ];
    const next = await ask(history, { tools: [WEATHER] });
    expect(next.data.choices[0]?.message.content).toBe('It is sunny.');
    expect(sessionOf(next.response)).toBe(sessionOf(response));
    expect(await turnsOf(sessionOf(response))).toBe(1);
  });

  test('runTools of the client answers several calls at once', async () => {
    const runner = client.chat.completions.runTools({
      model: 'fake',
      messages: [user('both')],
      tools: [
        {
          type: 'function',
          function: {
            name: 'weather',
            description: 'The weather.',
            parameters: { type: 'object', properties: {} },
            parse: JSON.parse,
            function: ({ city }: { city: string }) => `fine in ${city}`,
          },
        },
      ],
    });
    expect(await runner.finalContent()).toMatch(/^It is fine in (Rome|Oslo)\.$/);
  });

  test('a result is missing: 400 names the messages', async () => {
    const { data } = await ask([user('both')], { tools: [WEATHER] });
    const message = data.choices[0]?.message as OpenAI.ChatCompletionMessage;
    const id = message.tool_calls?.[0]?.id ?? '';
    const history: Message[] = [user('both'), message, { role: 'tool', tool_call_id: id, content: 'sun' }];
    const failed = await ask(history, { tools: [WEATHER] }).then(
      () => null,
      (error: unknown) => error,
    );
    expect(failed).toMatchObject({ status: 400, param: 'messages' });
  });

  test('a message instead of the result closes the call', async () => {
    const { data, response } = await ask([user('weather')], { tools: [WEATHER] });
    const message = data.choices[0]?.message as OpenAI.ChatCompletionMessage;
    const next = await ask([user('weather'), message, user('never mind')], { tools: [WEATHER] });
    expect(next.data.choices[0]?.message.content).toBe('You said never mind.');
    expect(sessionOf(next.response)).toBe(sessionOf(response));
    const ended = (await durableOf(server, sessionOf(response))).find(({ type }) => type === 'tool.ended');
    expect(ended).toMatchObject({ outcome: 'aborted' });
  });

  test('results that no session waits for continue from the history', async () => {
    const call = { id: 'call_9', type: 'function', function: { name: 'weather', arguments: '{}' } } as const;
    const { data, response } = await ask(
      [
        user('weather'),
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'call_9', content: 'rainy' },
      ],
      { tools: [WEATHER] },
    );
    expect(data.choices[0]?.message.content).toBe('It is rainy.');
    expect(await turnsOf(sessionOf(response))).toBe(1);
  });
});

test('without tools, those of the agent run on the server, and only the answer is shown', async () => {
  const { data, response } = await ask([user('echo')]);
  expect(data.choices[0]?.finish_reason).toBe('stop');
  expect(data.choices[0]?.message.content).toMatch(/^It is .*seen/s);
  expect(data.choices[0]?.message.tool_calls).toBeUndefined();
  expect(data.usage?.total_tokens).toBe(210);
  const events = await durableOf(server, sessionOf(response));
  expect(events.map(({ type }) => type)).toContain('tool.ended');
});
