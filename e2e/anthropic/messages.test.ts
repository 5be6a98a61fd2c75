/** Answers of the Messages API, driven by the official client. */
import { describe, expect, test } from 'bun:test';
import type Anthropic from '@anthropic-ai/sdk';
import { durableOf } from '../server-process.ts';
import { failure, sessionOf, textIn } from './client.ts';
import { messagesServer, user, WEATHER } from './setup.ts';

const { server, client, ask, turnsOf, prompt } = await messagesServer();

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
    // No `citations: null`: the AI SDK 5 and 6 refuse it.
    expect(Object.keys(data.content[0] ?? {})).toEqual(['type', 'text']);
    expect(sessionOf(response)).not.toBe('');
    expect(request_id).toBe(response.headers.get('request-id'));
    expect(request_id).toBeTruthy();
  });

  test('`system` replaces the instructions and is not part of the conversation', async () => {
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
    const remote = { type: 'file' as const, file_id: 'file_1' };
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

  test('is assembled by the client, text and calls', async () => {
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

  test('of a call starts with an empty input, and has its arguments as JSON', async () => {
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
