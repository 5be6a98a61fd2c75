/** The Messages API, driven by the official client. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type Anthropic from '@anthropic-ai/sdk';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { type Answer, type ChatRequest, type FakeModel, fakeModel } from '../fake-model.ts';
import { durableOf } from '../server-process.ts';
import { anthropicClient, failure, sessionOf, textIn } from './client.ts';

type Message = Anthropic.Beta.BetaMessageParam;

const user = (content: string): Message => ({ role: 'user', content });

const WEATHER = {
  name: 'weather',
  description: 'The weather of a city.',
  input_schema: { type: 'object' as const, properties: { city: { type: 'string' } } },
};

/** Repeats the last message of the user; calls what it is told to call. */
function answerTo({ messages }: ChatRequest): Answer {
  const last = messages.findLast(({ role }) => role !== 'system');
  const text = String(last?.content ?? '');
  if (last?.role === 'tool') {
    const results = messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1);
    return { say: `It is ${results.filter(({ role }) => role === 'tool').map(({ content }) => content)}.` };
  }
  if (text.startsWith('both'))
    return {
      calls: [
        ['weather', { city: 'Rome' }],
        ['weather', { city: 'Oslo' }],
      ],
    };
  if (text.startsWith('weather')) return { call: 'weather', input: { city: 'Rome' } };
  if (text.startsWith('now')) return { call: 'weather', input: {} };
  if (text.startsWith('echo')) return { call: 'echo', input: { value: 'seen' } };
  return { say: `You said ${text}.`, think: 'Hm.' };
}

let model: FakeModel;
let server: TestServer;
let client: Anthropic;

beforeAll(async () => {
  model = fakeModel((request) => answerTo(request));
  server = await startTestServer({ OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake' });
  client = anthropicClient(server.http);
});
afterAll(async () => {
  await server.stop();
  model.stop();
});

const ask = (messages: Message[], more: Partial<Anthropic.Beta.MessageCreateParamsNonStreaming> = {}) =>
  client.beta.messages.create({ model: 'fake', max_tokens: 100, messages, ...more }).withResponse();

const raw = async (body: object): Promise<{ event: string; data: Record<string, unknown> }[]> => {
  const response = await fetch(`${server.http}/v1/messages?beta=true`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'anthropic-beta': 'unknown-2030-01-01' },
    body: JSON.stringify({ model: 'fake', max_tokens: 100, stream: true, ...body }),
  });
  expect(response.headers.get('request-id')).not.toBeNull();
  expect(response.headers.get('x-parlance-session')).not.toBeNull();
  return (await response.text())
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => {
      const [, name = '', data = ''] = /^event: (\w+)\ndata: (.*)$/.exec(event) ?? [];
      return { event: name, data: JSON.parse(data) };
    });
};

const turnsOf = async (session: string): Promise<number> =>
  (await durableOf(server, session)).filter(({ type }) => type === 'turn.started').length;

/** The roles and contents of the last prompt. */
const prompt = () => model.requests.at(-1)?.messages.map(({ role, content }) => [role, content]) ?? [];

describe('a whole answer', () => {
  test('has content blocks, the reason, the model that answered and the usage', async () => {
    const { data, response, request_id } = await ask([user('hello')]);
    expect(data).toMatchObject({
      id: expect.stringMatching(/^msg_[\w-]+$/),
      type: 'message',
      role: 'assistant',
      model: 'fake',
      content: [{ type: 'text', text: 'You said hello.' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: {
        input_tokens: 100,
        output_tokens: 5,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
      },
    });
    expect(sessionOf(response)).not.toBe('');
    expect(request_id).toBe(response.headers.get('request-id'));
    expect(request_id).toBeTruthy();
  });

  test('`system` takes the place of the instructions and is not part of the conversation', async () => {
    for (const system of ['Rhyme.', [{ type: 'text' as const, text: 'Rhyme.' }]]) {
      const { response } = await ask([user('hi')], { system });
      expect(prompt()).toEqual([
        ['system', 'Rhyme.'],
        ['user', 'hi'],
      ]);
      const events = await durableOf(server, sessionOf(response));
      expect(events.filter(({ type }) => type === 'input.accepted')).toHaveLength(1);
    }
  });

  test('images and documents are taken as base64, and other sources are refused', async () => {
    const source = { type: 'base64' as const, media_type: 'image/png' as const, data: 'aGk=' };
    await ask([
      {
        role: 'user',
        content: [
          { type: 'image', source },
          { type: 'text', text: 'look' },
        ],
      },
    ]);
    expect(JSON.stringify(prompt().at(-1))).toContain('data:image/png;base64,aGk=');
    const remote = { type: 'url' as const, url: 'https://example.com/a.png' };
    const asked = ask([{ role: 'user', content: [{ type: 'image', source: remote }] }]);
    expect(await failure(asked)).toMatchObject({ status: 400, type: 'invalid_request_error' });
  });
});

describe('thinking', () => {
  test.each([
    [{ type: 'enabled', budget_tokens: 1024 } as const, true],
    [{ type: 'adaptive' } as const, true],
    [{ type: 'adaptive', display: 'omitted' } as const, false],
    [{ type: 'disabled' } as const, false],
    [undefined, false],
  ])('with %p is shown: %p', async (thinking, isShown) => {
    const more = {
      model: 'fake',
      max_tokens: 2000,
      messages: [user('hello')],
      ...(thinking && { thinking }),
    };
    const thought = { type: 'thinking', thinking: 'Hm.', signature: expect.stringMatching(/^parlance_/) };
    const text = expect.objectContaining({ type: 'text', text: 'You said hello.' });
    const expected = isShown ? [thought, text] : [text];
    const whole = await client.beta.messages.create(more);
    expect(whole.content as unknown[]).toEqual(expected);
    const streamed = await client.beta.messages.stream(more).finalMessage();
    expect(streamed.content as unknown[]).toEqual(expected);
    const next = await ask([user('hello'), { role: 'assistant', content: streamed.content }, user('more')]);
    expect(textIn(next.data)).toBe('You said more.');
    expect(await turnsOf(sessionOf(next.response))).toBe(2);
  });
});

describe('a stream', () => {
  test('has the events in their order, each with its name', async () => {
    const events = await raw({ messages: [user('a b')] });
    expect(events.every(({ event, data }) => event === data.type)).toBeTrue();
    const names = events.map(({ event }) => event).filter((event) => event !== 'ping');
    expect(names.filter((name, at) => name !== names[at - 1])).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    expect(events.map(({ event }) => event)).toContain('ping');
    expect(events[0]?.data).toMatchObject({
      message: { content: [], stop_reason: null, role: 'assistant', model: 'fake' },
    });
    const { usage } = (events[0]?.data.message ?? {}) as Partial<Anthropic.Message>;
    expect(usage?.input_tokens).toBeGreaterThan(0);
    expect(events.at(-2)?.data).toEqual({
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: {
        input_tokens: 100,
        output_tokens: 5,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
      },
    });
  });

  test('is put together by the client, text and calls', async () => {
    const text = await client.messages
      .stream({ model: 'fake', max_tokens: 100, messages: [{ role: 'user', content: 'hello you' }] })
      .finalText();
    expect(text).toBe('You said hello you.');
    const { content, stop_reason } = await client.messages
      .stream({
        model: 'fake',
        max_tokens: 100,
        messages: [{ role: 'user', content: 'both' }],
        tools: [WEATHER],
      })
      .finalMessage();
    expect(stop_reason).toBe('tool_use');
    expect(content.map((block) => block.type === 'tool_use' && block.input)).toEqual([
      { city: 'Rome' },
      { city: 'Oslo' },
    ]);
  });

  test('of a call begins with an empty input, and has its arguments as JSON', async () => {
    const events = await raw({ messages: [user('weather')], tools: [WEATHER] });
    const [start] = events.filter(({ event }) => event === 'content_block_start');
    expect(start?.data).toMatchObject({
      index: 0,
      content_block: {
        type: 'tool_use',
        id: expect.stringMatching(/^[\w-]+$/),
        name: 'weather',
        input: {},
      },
    });
    const parts = events.flatMap(({ data }) => (data.delta as { partial_json?: string })?.partial_json ?? []);
    expect(JSON.parse(parts.join(''))).toEqual({ city: 'Rome' });
    expect(events.at(-2)?.data).toMatchObject({ delta: { stop_reason: 'tool_use' } });
    const silent = await raw({ messages: [user('now')], tools: [WEATHER] });
    expect(silent.filter(({ event }) => event === 'content_block_stop')).toHaveLength(1);
  });
});

describe('tools of the caller', () => {
  test('are the only ones offered, and the results go on in the turn', async () => {
    const { data, response } = await ask([user('weather')], { tools: [WEATHER] });
    expect(model.requests.at(-1)?.tools?.map((tool) => tool.function.name)).toEqual(['weather']);
    expect(data).toMatchObject({
      stop_reason: 'tool_use',
      content: [{ type: 'tool_use', name: 'weather', input: { city: 'Rome' } }],
    });
    const [block] = data.content;
    const id = block?.type === 'tool_use' ? block.id : '';
    const result: Message = {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: id, content: [{ type: 'text', text: 'sunny' }] }],
    };
    const history: Message[] = [user('weather'), { role: 'assistant', content: data.content }, result];
    const tools = [
      WEATHER,
      { ...WEATHER, name: 'later' },
      { type: 'web_search_20250305', name: 'web_search' } as never,
    ];
    const next = await ask(history, { tools });
    expect(textIn(next.data)).toBe('It is sunny.');
    expect(sessionOf(next.response)).toBe(sessionOf(response));
    expect(await turnsOf(sessionOf(response))).toBe(1);
    // Tools may change between the requests of a turn.
    expect(model.requests.at(-1)?.tools?.map((tool) => tool.function.name)).toEqual(['weather', 'later']);
  });

  test('several results come at once, beside text, and the model sees all of it together', async () => {
    const { data, response } = await ask([user('both')], { tools: [WEATHER] });
    const ids = data.content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
    const answered: Message = {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: ids[0] ?? '', content: 'sun' },
        { type: 'tool_result', tool_use_id: ids[1] ?? '', content: 'fog', is_error: true },
        { type: 'text', text: 'hurry' },
      ],
    };
    const before = model.requests.length;
    const next = await ask([user('both'), { role: 'assistant', content: data.content }, answered], {
      tools: [WEATHER],
    });
    expect(textIn(next.data)).toBe('You said hurry.');
    expect(model.requests).toHaveLength(before + 1);
    expect(prompt().slice(-3)).toEqual([
      ['tool', 'sun'],
      ['tool', 'fog'],
      ['user', 'hurry'],
    ]);
    expect(sessionOf(next.response)).toBe(sessionOf(response));
    const ended = (await durableOf(server, sessionOf(response))).filter(({ type }) => type === 'tool.ended');
    expect(ended).toMatchObject([{ outcome: 'ok' }, { outcome: 'failed' }]);
  });

  test('a result is missing: 400; a message instead of the result closes the call', async () => {
    const { data, response } = await ask([user('both')], { tools: [WEATHER] });
    const [block] = data.content;
    const id = block?.type === 'tool_use' ? block.id : '';
    const history: Message[] = [user('both'), { role: 'assistant', content: data.content }];
    const one: Message = {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: id, content: 'sun' }],
    };
    expect(await failure(ask([...history, one], { tools: [WEATHER] }))).toMatchObject({ status: 400 });
    const next = await ask([...history, user('never mind')], { tools: [WEATHER] });
    expect(textIn(next.data)).toBe('You said never mind.');
    expect(sessionOf(next.response)).toBe(sessionOf(response));
    const ended = (await durableOf(server, sessionOf(response))).filter(({ type }) => type === 'tool.ended');
    expect(ended).toMatchObject([{ outcome: 'aborted' }, { outcome: 'aborted' }]);
  });

  test('without any those of the agent run here, and only the answer is seen', async () => {
    const { data, response } = await ask([user('echo')]);
    expect(data.stop_reason).toBe('end_turn');
    expect(textIn(data)).toMatch(/^It is .*seen/s);
    expect(data.usage).toMatchObject({ input_tokens: 200, output_tokens: 10 });
    expect((await durableOf(server, sessionOf(response))).map(({ type }) => type)).toContain('tool.ended');
  });
});

describe('messages of the role system', () => {
  const system = (content: string): Message => ({
    role: 'system',
    content: [{ type: 'text', text: content }],
  });

  test('stand at their place for the model, and are no input', async () => {
    const { data, response } = await ask([system('First.'), user('one'), system('Last.')]);
    expect(textIn(data)).toBe('You said one.');
    expect(prompt().slice(-3)).toEqual([
      ['system', 'First.'],
      ['user', 'one'],
      ['system', 'Last.'],
    ]);
    // The same one comes as a string later: it does not count.
    const next = await ask([
      { role: 'system', content: 'First.' },
      user('one'),
      { role: 'system', content: 'Last.' },
      { role: 'assistant', content: data.content },
      user('two'),
      system('Hurry.'),
    ]);
    expect(sessionOf(next.response)).toBe(sessionOf(response));
    expect(prompt().slice(1)).toEqual([
      ['system', 'First.'],
      ['user', 'one'],
      ['system', 'Last.'],
      ['assistant', 'You said one.'],
      ['user', 'two'],
      ['system', 'Hurry.'],
    ]);
    const inputs = (await durableOf(server, sessionOf(response))).filter(
      ({ type }) => type === 'input.accepted',
    );
    expect(inputs).toMatchObject([{ parts: [{ text: 'one' }] }, { parts: [{ text: 'two' }] }]);
  });

  test('after results, in a history that is taken over, and alone', async () => {
    const { data } = await ask([user('weather')], { tools: [WEATHER] });
    const [block] = data.content;
    const id = block?.type === 'tool_use' ? block.id : '';
    const result: Message = {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: id, content: 'sun' }],
    };
    const called: Message[] = [user('weather'), { role: 'assistant', content: data.content }];
    for (const history of [
      [...called, result, system('Be brief.')],
      [
        user('before'),
        { role: 'assistant', content: 'Yes.' } as Message,
        ...called,
        system('Be brief.'),
        result,
      ],
    ]) {
      const next = await ask(history, { tools: [WEATHER] });
      expect(textIn(next.data)).toBe('It is sun.');
      expect(prompt().slice(-2)).toEqual([
        ['tool', 'sun'],
        ['system', 'Be brief.'],
      ]);
    }
    const first = await ask([user('hello')]);
    const spoken: Message[] = [user('hello'), { role: 'assistant', content: first.data.content }];
    const alone = await ask([...spoken, system('Once more.')]);
    expect(prompt().at(-1)).toEqual(['system', 'Once more.']);
    expect(sessionOf(alone.response)).toBe(sessionOf(first.response));
  });
});

describe('count_tokens', () => {
  test('estimates system, messages and tools', async () => {
    const count = async (more: object) =>
      (
        await client.messages.countTokens({
          model: 'fake',
          messages: [{ role: 'user', content: 'hello' }],
          system: 'Rhyme.',
          tools: [WEATHER],
          ...more,
        })
      ).input_tokens;
    const base = await count({});
    expect(base).toBeGreaterThan(5);
    const long = 'lorem ipsum '.repeat(100);
    expect(await count({ system: long })).toBeGreaterThan(base + 150);
    expect(await count({ messages: [{ role: 'user', content: long }] })).toBeGreaterThan(base + 150);
    expect(await count({ tools: [{ ...WEATHER, description: long }] })).toBeGreaterThan(base + 150);
  });
});
