import { describe, expect, test } from 'bun:test';
import type { PromptPart } from '@parlance/protocol';
import type { Prompt, PromptItem } from '../core/ports/provider.ts';
import type { ApiEvent } from './model-api.ts';
import { openaiChat } from './openai-chat.ts';

const api = (baseUrl = 'http://localhost:11434/v1', key = '') => openaiChat({ key, baseUrl, model: 'm-1' });

const user = (...parts: PromptPart[]): PromptItem => ({ kind: 'user', parts });
const said = (text: string): PromptPart => ({ type: 'text', text });
const IMAGE: PromptPart = { type: 'image', mime: 'image/png', data: 'AAAA' };
const IMAGE_PART = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
const call = (id: string): PromptItem => ({ kind: 'call', call: id, tool: 'clock', input: { in: id } });
const made = (id: string) => ({
  id,
  type: 'function',
  function: { name: 'clock', arguments: `{"in":"${id}"}` },
});
const result = (id: string, ...parts: PromptPart[]): PromptItem => ({
  kind: 'result',
  call: id,
  parts,
  failed: false,
});
const thought = (text: string, model = 'm-1', provider = 'openai-chat'): PromptItem => ({
  kind: 'reasoning',
  text,
  sealed: { provider, data: { field: 'reasoning_content', model } },
});

function request(items: PromptItem[], plain = false, from = api()) {
  const prompt: Prompt = { task: 'chat', instructions: '', items, tools: [] };
  const { url, headers, body } = from.request(prompt, plain);
  return { url, headers, body: JSON.parse(JSON.stringify(body)) as Record<string, unknown> };
}
const messages = (...items: PromptItem[]) => request(items).body.messages;

describe('a request of Chat Completions', () => {
  test('needs no key if the server wants none', () => {
    expect(request([]).headers).toEqual({});
    const { url, headers } = request([], false, api('https://api.groq.com/openai/v1', 'k'));
    expect(url).toBe('https://api.groq.com/openai/v1/chat/completions');
    expect(headers).toEqual({ authorization: 'Bearer k' });
  });

  test('sends the cache key only to OpenAI: other servers refuse unknown fields', () => {
    expect(request([]).body).not.toHaveProperty('prompt_cache_key');
    expect(request([], false, api('https://api.openai.com/v1')).body).toHaveProperty('prompt_cache_key');
  });

  test('sends the URL of an image as it is, and the one of a file as text', () => {
    const url = 'https://a.example/b';
    const linked = (kind: 'image' | 'file'): PromptPart => ({ type: 'text', text: url, link: { kind, url } });
    expect(messages(user(linked('image'), linked('file')))).toEqual([
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url } },
          { type: 'text', text: url },
        ],
      },
    ]);
  });

  test('in the plain form has no extras', () => {
    const { body } = request(
      [thought('Hm.'), call('a'), result('a')],
      true,
      api('https://api.openai.com/v1'),
    );
    expect(Object.keys(body).sort()).toEqual(['messages', 'model', 'stream']);
    expect(JSON.stringify(body)).not.toContain('reasoning_content');
  });

  test('sends text as a string, and images as parts', () => {
    expect(messages(user(said('A'), said('B')))).toEqual([{ role: 'user', content: 'A\n\nB' }]);
    expect(messages(user(said('A'), IMAGE))).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'A' }, IMAGE_PART] },
    ]);
  });

  test('alternates roles', () => {
    const summary: PromptItem = { kind: 'summary', text: 'They met.' };
    expect(
      messages(summary, user(said('Hi')), { kind: 'text', text: 'A' }, { kind: 'text', text: 'B' }),
    ).toEqual([
      { role: 'user', content: 'This is a summary of the conversation so far:\n\nThey met.\n\nHi' },
      { role: 'assistant', content: 'A\n\nB' },
    ]);
  });

  test('has instructions at their place, and as input of the user in the plain form', () => {
    const items: PromptItem[] = [user(said('Hi')), { kind: 'system', text: 'Be brief.' }];
    expect(messages(...items)).toEqual([
      { role: 'user', content: 'Hi' },
      { role: 'system', content: 'Be brief.' },
    ]);
    expect(request(items, true).body.messages).toEqual([
      { role: 'user', content: 'Hi\n\n<system>\nBe brief.\n</system>' },
    ]);
  });

  test('has the text and the calls of an answer in one message, followed by the results', () => {
    expect(
      messages({ kind: 'text', text: 'A' }, call('a'), call('b'), result('a', said('1')), result('b')),
    ).toEqual([
      { role: 'assistant', content: 'A', tool_calls: [made('a'), made('b')] },
      { role: 'tool', tool_call_id: 'a', content: '1' },
      { role: 'tool', tool_call_id: 'b', content: '(no output)' },
    ]);
  });

  test('has one message for each of two consecutive calls', () => {
    expect(messages(call('a'), result('a', said('1')), call('b'), result('b', said('2')))).toEqual([
      { role: 'assistant', content: null, tool_calls: [made('a')] },
      { role: 'tool', tool_call_id: 'a', content: '1' },
      { role: 'assistant', content: null, tool_calls: [made('b')] },
      { role: 'tool', tool_call_id: 'b', content: '2' },
    ]);
  });

  test('sends the images of results after the last of them', () => {
    expect(
      messages(call('a'), call('b'), result('a', IMAGE), result('b', said('2')), user(said('So?'))),
    ).toEqual([
      { role: 'assistant', content: null, tool_calls: [made('a'), made('b')] },
      { role: 'tool', tool_call_id: 'a', content: 'The image follows.' },
      { role: 'tool', tool_call_id: 'b', content: '2' },
      { role: 'user', content: [IMAGE_PART, { type: 'text', text: 'So?' }] },
    ]);
  });

  test('returns reasoning with the call that it led to, in its original field', () => {
    expect(
      messages(thought('Hm.'), { kind: 'text', text: 'A' }, call('a'), result('a'), thought(''), call('b')),
    ).toEqual([
      { role: 'assistant', content: 'A', reasoning_content: 'Hm.', tool_calls: [made('a')] },
      { role: 'tool', tool_call_id: 'a', content: '(no output)' },
      { role: 'assistant', content: null, reasoning_content: '', tool_calls: [made('b')] },
    ]);
  });

  test('leaves out reasoning of other vendors, of another model, and without a call', () => {
    const left = messages(
      thought('No.', 'm-1', 'anthropic'),
      thought('No.', 'm-2'),
      { kind: 'reasoning', text: 'No.' },
      call('a'),
      result('a'),
      thought('No.'),
      { kind: 'text', text: 'A' },
      user(said('B')),
      call('b'),
    );
    expect(JSON.stringify(left)).not.toContain('No.');
  });

  test('shortens a long id in the same way in the call and in its result', () => {
    const id = 'x'.repeat(300);
    const [answer, output] = messages(call(id), result(id)) as [
      { tool_calls: { id: string }[] },
      { tool_call_id: string },
    ];
    expect(output.tool_call_id.length).toBeLessThanOrEqual(40);
    expect(answer.tool_calls[0]?.id).toBe(output.tool_call_id);
  });
});

describe('an answer of Chat Completions', () => {
  function read(...chunks: unknown[]): readonly ApiEvent[] {
    const reader = api();
    let state = reader.start();
    const events: ApiEvent[] = [];
    for (const chunk of chunks) {
      const [next, more] = reader.step(state, { event: undefined, data: JSON.stringify(chunk) });
      state = next;
      events.push(...more);
    }
    return [...events, ...reader.finish(state)];
  }
  const delta = (said: object, finish_reason: string | null = null) => ({
    choices: [{ delta: said, finish_reason }],
  });

  test('without ids of calls gets unique ids', () => {
    const piece = (index: number) => ({ index, function: { name: 'clock', arguments: '{}' } });
    const ids = () =>
      read(delta({ tool_calls: [piece(0), piece(1)] }), delta({}, 'tool_calls')).flatMap((event) =>
        event.type === 'call' ? [event.call] : [],
      );
    expect(new Set([...ids(), ...ids()]).size).toBe(4);
    expect(ids().every((id) => /^call_[\w-]+$/.test(id) && id.length <= 40)).toBe(true);
  });

  test('without indexes of calls is joined by their order', () => {
    const events = read(
      delta({ tool_calls: [{ id: 'a', function: { name: 'clock', arguments: '{"x"' } }] }),
      delta({ tool_calls: [{ function: { arguments: ':1}' } }] }),
      delta({ tool_calls: [{ id: 'b', function: { name: 'clock', arguments: '{}' } }] }, 'tool_calls'),
    );
    expect(events.filter(({ type }) => type !== 'arguments')).toMatchObject([
      { type: 'call', call: 'a', input: { x: 1 } },
      { type: 'call', call: 'b', input: {} },
      { type: 'ended', stop: 'calls' },
    ]);
  });

  test('streams the arguments of a call from when its id and name are known', () => {
    const late = { index: 0, id: 'a', function: { name: 'clock', arguments: ':' } };
    const events = read(
      delta({ tool_calls: [{ index: 0, function: { arguments: '{"x"' } }] }),
      delta({ tool_calls: [late] }),
      delta({ tool_calls: [{ index: 0, function: { arguments: '' } }] }),
      delta({ tool_calls: [{ index: 0, function: { arguments: '1}' } }] }, 'tool_calls'),
    );
    expect(events.filter(({ type }) => type === 'arguments')).toEqual([
      { type: 'arguments', index: 0, call: 'a', tool: 'clock', text: '{"x":' },
      { type: 'arguments', index: 0, call: 'a', tool: 'clock', text: '1}' },
    ]);
  });

  test('that is not JSON is damaged and retried', () => {
    const reader = api();
    expect(reader.step(reader.start(), { event: undefined, data: '{"choices":[{"del' })[1]).toMatchObject([
      { type: 'failed', fault: { retryable: true } },
    ]);
  });
});
